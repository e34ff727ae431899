"""For all tests: how long things take says nothing on a machine that is busy with others."""

from hypothesis import HealthCheck, settings

settings.register_profile("corral", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("corral")
