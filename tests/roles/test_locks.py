"""One of each role, and what waits for what."""

import threading
from pathlib import Path

import pytest

from corral.core.errors import Refused
from corral.roles import locks
from tests.patience import PATIENCE_S


def test_a_second_one_is_refused_and_not_kept_out(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with locks.only_one(folder, "witness"):
        assert locks.taken(folder, "witness")
        with locks.kept_out(folder, "witness") as alone:
            assert not alone
        with pytest.raises(Refused) as caught, locks.only_one(folder, "witness", wait_s=0):
            pass
        assert caught.value.code == "witness_runs"
    assert not locks.taken(folder, "witness")


def test_one_that_is_kept_out_waits_and_is_not_refused(tmp_path: Path) -> None:
    folder, seen = str(tmp_path), list[str]()

    def start() -> None:
        try:
            with locks.only_one(folder, "witness", wait_s=0):
                seen.append("runs")
        except Refused as refusal:
            seen.append(str(refusal))

    role = threading.Thread(target=start)
    with locks.kept_out(folder, "witness") as alone:
        assert alone
        assert not locks.taken(folder, "witness")
        role.start()
        role.join(0.3)  # long enough for a refusal
        assert seen == []
    role.join(PATIENCE_S)
    assert seen == ["runs"]
