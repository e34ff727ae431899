"""Facts are read completely while being written, across rotation, in bounded memory."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corral.core.engine.facts import Fact, Said
from corral.core.engine.stream import Stream as Summary
from corral.roles.records.facts import Reading
from corral.world.engines.agents.self_reporting import FactsReader
from corral.world.engines.recipe import EngineJob, Stream

JOB = EngineJob(session="A-1.1", program=("x",), tree="/", home="/", prompt_file="/")
NOW = 1_700_000_000_000


class Heard(list[str]):
    def __call__(self, fact: Fact) -> None:
        assert isinstance(fact, Said)
        self.append(fact.text)


class Writer:
    """Writes as the shim does: in parts of any size, with rotation."""

    def __init__(self, folder: Path, limit: int) -> None:
        folder.mkdir(parents=True)
        self._path = folder / "output"
        self._limit = limit
        self._file = open(self._path, "wb", buffering=0)  # noqa: SIM115 - rotates
        self._size = 0

    def write(self, data: bytes) -> None:
        while data:
            if self._size >= self._limit:
                self.rotate()
            part = data[: self._limit - self._size]
            self._file.write(part)
            self._size += len(part)
            data = data[len(part) :]

    def rotate(self) -> None:
        self._path.rename(f"{self._path}.1")
        self._file.close()
        self._file = open(self._path, "wb", buffering=0)  # noqa: SIM115 - rotates
        self._size = 0

    def close(self) -> None:
        self._file.close()


def lines(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"fact": "said", "text": t}).encode() + b"\n" for t in texts)


def reading(folder: Path, heard: Heard) -> Reading:
    return Reading(str(folder), FactsReader(JOB), Summary(), NOW, heard)


@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(st.text(min_size=1, max_size=30), max_size=20),
    cuts=st.lists(st.integers(1, 40), min_size=1, max_size=50),
    limit=st.integers(200, 2000),
)
def test_what_is_read_while_it_is_written_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cuts: list[int], limit: int
) -> None:
    folder = tmp_path_factory.mktemp("room") / "run-1"
    writer = Writer(folder, limit)
    heard = Heard()
    live = reading(folder, heard)
    data, at = lines(texts), 0
    for number in range(len(data)):
        cut = cuts[number % len(cuts)]
        writer.write(data[at : at + cut])
        at += cut
        live.advance(NOW)
        if at >= len(data):
            break
    live.finish(NOW)
    writer.close()
    assert heard == texts
    if len(data) <= limit:  # nothing was rotated away: a second reader hears the same
        again = Heard()
        assert reading(folder, again).finish(NOW) == live.stream
        assert again == texts


def test_a_late_reader_hears_what_is_left_and_no_half_line(tmp_path: Path) -> None:
    folder = tmp_path / "run-1"
    writer = Writer(folder, 1000)
    texts = [f"{n:04}" for n in range(200)]
    heard = Heard()
    slow = reading(folder, heard)
    writer.write(lines(texts[:5]))
    slow.advance(NOW)
    writer.write(lines(texts[5:]))
    slow.finish(NOW)
    late = Heard()
    reading(folder, late).finish(NOW)
    writer.close()
    assert late == texts[len(texts) - len(late) :]
    assert len(late) > 20
    # A slow reader gets its first file to the end, then a gap, then the rest.
    assert heard == sorted(set(heard))
    assert (heard[:20], heard[-20:]) == (texts[:20], texts[-20:])
    assert set(late) < set(heard) < set(texts)


def test_a_line_that_never_ends_takes_no_memory_and_the_next_one_is_heard(tmp_path: Path) -> None:
    folder = tmp_path / "run-1"
    writer = Writer(folder, 64 << 20)
    heard = Heard()
    live = reading(folder, heard)
    for _ in range(12):
        writer.write(b'{"fact":"said","text":"' + b"x" * (1 << 20))
        live.advance(NOW)
        assert sum(len(one.rest) for one in live._lines.values()) <= 5 << 20
    writer.write(b'"}\n' + lines(["next"]))
    live.finish(NOW)
    writer.close()
    assert heard == ["next"]


class Clumsy(FactsReader):
    def feed(self, line: bytes, stream: Stream) -> list[Fact]:
        if line == b"odd":
            raise KeyError("odd")
        return super().feed(line, stream)


def test_a_reader_that_stumbles_over_a_line_goes_on_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "run-1"
    writer = Writer(folder, 1 << 20)
    heard = Heard()
    live = Reading(str(folder), Clumsy(JOB), Summary(), NOW, heard)
    writer.write(lines(["one"]) + b"odd\n" + lines(["two"]))
    live.finish(NOW)
    writer.close()
    assert (heard, live.unread) == (["one", "two"], 1)
