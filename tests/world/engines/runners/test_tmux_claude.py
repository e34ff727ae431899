"""Claude Code on a terminal, sent messages through the inbox."""

from pathlib import Path

from corral.core.engine.facts import Told
from corral.world.engines import registry
from corral.world.engines.agents import terminal
from corral.world.engines.files import lay
from corral.world.engines.runners import inbox
from corral.world.engines.runners.inbox import DeliveryProof
from corral.world.engines.runners.tmux import server
from tests.standin.server import StandIn
from tests.world.engines.agents.test_acp import TURN_S, AcpTree, standin
from tests.world.engines.runners.runner_process import send, until

__all__ = ["standin"]  # a fixture


def test_claude_on_a_terminal(tmp_path: Path, programs: Path, standin: StandIn) -> None:
    project = AcpTree("claude-code", tmp_path, programs, standin)
    order, prepared = terminal.prepare(
        "claude-code", project.job, registry.find("claude-code").prepare, room=str(tmp_path)
    )
    lay(prepared, project.job.home)
    with project.running(order, prepared, "WRITE a.py <<<x = 1>>>") as runner:
        (told,) = until(runner.saw(Told), TURN_S)
        assert told.proof == "record", server.capture(str(tmp_path), 60)
        until((project.tree / "a.py").exists, TURN_S)
        number = send(tmp_path, "Now say this:\nSAY <<<fine weather>>>")
        until(lambda: inbox.receipt(str(tmp_path), number), TURN_S)
        assert inbox.receipt(str(tmp_path), number) is DeliveryProof.RECORD
        until(lambda: "fine weather" in "\n".join(server.capture(str(tmp_path), 60)), TURN_S)
        send(tmp_path, "/exit")
        assert runner.end() == 0, runner.lines
