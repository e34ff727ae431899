"""Output is complete and in order, and bounded on disk and in memory whatever is written."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from corral.world import processes
from corral.world.processes.output import ERRORS, HEAD, HEAD_BYTES, NEWEST, OLDER
from tests.world.processes.sessions import Sessions, await_in, pss

GIGABYTE = 1 << 30


def test_output_is_complete_and_in_order(sessions: Sessions) -> None:
    sessions.shell("a", "seq 200000; seq 200001 200010 >&2")
    end = sessions.ended("a")
    text = Path(sessions.folder("a"), NEWEST).read_text()
    assert text == "".join(f"{number}\n" for number in range(1, 200_011))
    assert (end.output_bytes, end.output_dropped) == (len(text), 0)


def test_errors_can_be_kept_apart_so_that_no_line_is_torn(sessions: Sessions) -> None:
    sessions.shell("a", "seq 50000 & seq 50001 100000 >&2; wait", split=True, output_bytes=1 << 20)
    end = sessions.ended("a")
    folder = Path(sessions.folder("a"))
    said, errors = (folder / NEWEST).read_text(), (folder / ERRORS).read_text()
    assert said == "".join(f"{number}\n" for number in range(1, 50_001))
    assert errors == "".join(f"{number}\n" for number in range(50_001, 100_001))
    assert end.output_bytes == len(said) + len(errors)
    assert processes.last_lines(str(folder), 1) == ["100000"]
    assert processes.tail(str(folder), 1) == ["50000"]


def test_a_gigabyte_is_bounded_on_disk_and_takes_no_memory(sessions: Sessions) -> None:
    limit = 4 << 20
    folder = Path(sessions.folder("a"))
    script = f"echo begin; head -c {GIGABYTE} /dev/zero; echo; echo end"
    started = sessions.shell("a", script, output_bytes=limit)
    before = pss(started.pid)
    most = on_disk = 0

    def look() -> processes.Exit | None:
        nonlocal most, on_disk
        on_disk = max(on_disk, sum(entry.stat().st_size for entry in _files(folder)))
        if processes.alive(str(folder)):
            most = max(most, pss(started.pid))
        return processes.read_exit(str(folder))

    end = await_in(str(folder), look, 60)
    assert end.output_bytes == GIGABYTE + len("begin\n\nend\n")
    assert on_disk <= 2 * limit + HEAD_BYTES + 16_384  # and the records
    assert most < before + 1_000_000
    assert processes.tail(str(folder), 1) == ["end"]
    assert (folder / HEAD).read_bytes().startswith(b"begin\n")
    assert (folder / HEAD).stat().st_size == HEAD_BYTES
    print(f"1 GB: shim {before >> 10} -> {most >> 10} kB PSS, disk {on_disk >> 20} MB")


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            # A rotation may take a name away between the listing and the look.
            with suppress(FileNotFoundError):
                entry.stat()
                yield entry


def test_the_end_can_be_read_across_a_rotation(sessions: Sessions) -> None:
    # Seven bytes a line: the rotation falls into the middle of one.
    sessions.shell("a", "seq 100000 109999", output_bytes=HEAD_BYTES)
    sessions.ended("a")
    folder = Path(sessions.folder("a"))
    newest = (folder / NEWEST).stat().st_size
    lines = newest // 7 + 100
    assert processes.tail(str(folder), lines) == [str(n) for n in range(110_000 - lines, 110_000)]
    assert processes.tail(str(folder), 0) == []
    assert (folder / OLDER).stat().st_size == HEAD_BYTES


def test_only_a_bounded_part_is_read_for_the_end(sessions: Sessions) -> None:
    sessions.shell("a", "head -c 3000000 /dev/zero | tr '\\0' x; echo; printf '\\377 half'")
    sessions.ended("a")
    cut, last = processes.tail(sessions.folder("a"), 5)
    assert last == "\N{REPLACEMENT CHARACTER} half"
    assert len(cut) <= 1 << 18


def test_nothing_written_is_no_line(sessions: Sessions) -> None:
    sessions.start("a", "true")
    sessions.ended("a")
    assert processes.tail(sessions.folder("a"), 5) == []
    assert processes.tail(sessions.folder("missing"), 5) == []


def test_a_program_may_close_its_output_and_go_on(sessions: Sessions) -> None:
    sessions.shell("a", "echo last; exec >&- 2>&-; sleep 0.2; exit 8")
    assert sessions.ended("a").code == 8
    assert processes.tail(sessions.folder("a"), 1) == ["last"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file system of its own to fill")
def test_on_a_full_disk_the_program_goes_on_and_the_loss_is_counted(sessions: Sessions) -> None:
    small = sessions.root / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount")
    try:
        sessions.shell("small/a", "head -c 5000000 /dev/zero; exit 3")
        end = sessions.ended("small/a")
        assert end.code == 3
        assert end.output_dropped > 3_000_000
        assert end.output_bytes + end.output_dropped == 5_000_000
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
