"""R39: a server comes back where it was, if it can."""

from pathlib import Path

from corral.world import serving


def test_the_last_port_is_tried_first(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert serving.last_port(folder) == 0
    serving.listen_local(folder).close()
    with serving.listen_tcp("127.0.0.1", 0) as held:
        free = held.getsockname()[1]
        with serving.listen_tcp("127.0.0.1", 0) as other:
            port = other.getsockname()[1]
            assert port != free
        serving.publish(folder, "http://127.0.0.1", port, "log")
        serving.withdraw(folder)  # as when it ends by itself
        assert serving.last_port(folder) == port
        with serving.listen_tcp("127.0.0.1", 0, port) as again:
            assert again.getsockname()[1] == port
            with serving.listen_tcp("127.0.0.1", 0, port) as taken:
                assert taken.getsockname()[1] != port
    (tmp_path / serving.FOLDER / serving.LAST).write_text("99999999")
    assert serving.last_port(folder) == 0
