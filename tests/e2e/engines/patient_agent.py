"""An agent that speaks the Agent Client Protocol, remembers, and takes its time.

    python -m tests.e2e.engines.patient_agent HEARD GO

What it is told it appends to HEARD and to its own record, in its home. A turn whose text has the
words `wait for NAME` lasts until the file GO-NAME is there; with `ask N times` it asks for so many
permissions. Its first turn commits something.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.world.engines.runners.scripted_agent import SESSION, Agent

HEARD, GO = sys.argv[1:3]
RECORD = Path(os.environ["HOME"]) / "talk.jsonl"


class Patient(Agent):
    def on_session_load(self, params: dict[str, Any]) -> dict[str, Any]:
        assert params["sessionId"] == SESSION
        for line in RECORD.read_text().splitlines():
            self.say(json.loads(line), "user_message_chunk")
        return {}

    def _ask(self, times: int) -> None:
        """Ask for the same permission again and again; nothing else is said in between."""
        call = {"title": "run", "kind": "execute", "rawInput": {"command": "make"}}
        for number in range(times):
            outcome = self.permission({"toolCallId": f"q{number}", **call})
            with open(HEARD, "a") as heard:
                heard.write(f"chosen: {outcome.get('optionId')}\n")
        self.update(sessionUpdate="tool_call_update", toolCallId="q0", status="completed")

    def on_session_prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        text = params["prompt"][0]["text"]
        with open(RECORD, "a") as record, open(HEARD, "a") as heard:
            record.write(json.dumps(text) + "\n")
            heard.write(f"== {os.getpid()}\n{text}\n")
        self.say("I see. ")
        for times in re.findall(r"ask (\d+) times", text):
            self._ask(int(times))
        for name in re.findall(r"wait for (\S+)", text):
            while not os.path.exists(f"{GO}-{name}"):
                time.sleep(0.05)
        if "You are session" in text:
            work = "date +%N > work.txt; git add work.txt; git commit -qm work"
            subprocess.run(["sh", "-c", work], check=True)
        self.say("Done.")
        return {"stopReason": "end_turn"}


if __name__ == "__main__":
    Patient("plain").run()
