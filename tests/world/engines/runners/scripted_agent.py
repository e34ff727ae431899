"""An agent that speaks the Agent Client Protocol, one message at a time, and misbehaves on request.

    python scripted_agent.py SCRIPT

It is written without the SDK: what it does wrong, the SDK would not let it do.
"""

import json
import os
import sys
import time
from typing import Any

SESSION = "ses-1"
OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


class Agent:
    def __init__(self, script: str) -> None:
        self.script = script
        self.cancelled = False
        self._next = 1000
        self._held: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}))

    def raw(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def update(self, **update: Any) -> None:
        self.send({"method": "session/update", "params": {"sessionId": SESSION, "update": update}})

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        self.update(sessionUpdate=kind, content={"type": "text", "text": text})

    def receive(self) -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        message: dict[str, Any] = json.loads(line)
        self.cancelled = self.cancelled or message.get("method") == "session/cancel"
        return message

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Make a call of the client, and wait for the answer."""
        self._next += 1
        self.send({"id": self._next, "method": method, "params": params})
        while (message := self.receive()).get("id") != self._next:
            self._held.append(message)
        return message.get("result", message.get("error"))

    def permission(self, call: dict[str, Any]) -> Any:
        params = {"sessionId": SESSION, "toolCall": call, "options": OPTIONS}
        answer = self.ask("session/request_permission", params)
        return answer.get("outcome", answer)

    def run(self) -> None:
        while True:
            message = self._held.pop(0) if self._held else self.receive()
            method = message.get("method", "")
            if "id" in message and method:
                handle = getattr(self, f"on_{method.replace('/', '_')}", None)
                params = message.get("params", {})
                result = handle(params) if handle else {"error": {"code": -32601, "message": "?"}}
                kind = result if set(result) == {"error"} else {"result": result}
                self.send({"id": message["id"], **kind})

    def on_initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.script == "mute":
            time.sleep(600)
        if self.script == "no-start":
            sys.stderr.write("Error: 401 invalid api key\n")
            sys.exit(7)
        if self.script == "old":
            return {"protocolVersion": 99}
        assert "fs" not in params.get("clientCapabilities", {}) or not any(
            params["clientCapabilities"]["fs"].values()
        )
        return {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": self.script != "no-load"},
            "agentInfo": {"name": "scripted", "version": "1.0"},
        }

    def on_session_new(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.script == "login":
            return {"error": {"code": -32000, "message": "Authentication required"}}
        if self.script == "not-of-the-protocol":
            return {"session": 5}
        self.mcp = params["mcpServers"]
        return {
            "sessionId": SESSION,
            "modes": {"currentModeId": "a", "availableModes": []},
            "configOptions": [
                {"id": "model", "name": "Model", "category": "model", "type": "select"}
            ],
        }

    def on_session_load(self, params: dict[str, Any]) -> dict[str, Any]:
        if params["sessionId"] != SESSION:
            return {"error": {"code": -32603, "message": "Internal error", "data": "no such thing"}}
        self.mcp = params["mcpServers"]
        self.say("what was said", "user_message_chunk")
        self.say(" before", "user_message_chunk")
        self.say("an old answer")
        return {}

    def on_session_set_mode(self, params: dict[str, Any]) -> dict[str, Any]:
        self.say(f"mode {params['modeId']}")
        return {}

    def on_session_set_config_option(self, params: dict[str, Any]) -> dict[str, Any]:
        self.say(f"{params['configId']} {params['value']}")
        return {}

    def on_session_prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        text = params["prompt"][0]["text"]
        name = text.split()[0].replace("-", "_").rstrip(":")
        act = getattr(self, f"do_{name}", None)
        return (act or self.do_echo)(text) or {"stopReason": "end_turn"}

    def do_echo(self, text: str) -> None:
        for part in (text[:3], text[3:]):
            self.say(part)

    def do_work(self, text: str) -> dict[str, Any]:
        self.say("I will ")
        self.say("write a file")
        call = {"toolCallId": "c1", "title": "Write a.py", "kind": "edit", "status": "pending"}
        self.update(sessionUpdate="tool_call", **call)
        place = [{"path": os.path.join(os.getcwd(), "a.py")}]
        outcome = self.permission({"toolCallId": "c1", "locations": place})
        ok = outcome.get("optionId") == "yes"
        self.update(
            sessionUpdate="tool_call_update",
            toolCallId="c1",
            status="completed" if ok else "failed",
            content=[{"type": "content", "content": {"type": "text", "text": "written"}}],
        )
        command = {"command": "git commit -m x"}
        self.update(
            sessionUpdate="tool_call",
            toolCallId="c2",
            title="run",
            kind="execute",
            rawInput=command,
        )
        outcome = self.permission({"toolCallId": "c2", "title": "run", "rawInput": command})
        ok = outcome.get("optionId") == "yes"
        status = "completed" if ok else "failed"
        self.update(sessionUpdate="tool_call_update", toolCallId="c2", status=status)
        cost = {"amount": 0.25, "currency": "USD"}
        self.update(sessionUpdate="usage_update", used=1200, size=200_000, cost=cost)
        self.say("done")
        usage = {"totalTokens": 160, "inputTokens": 100, "outputTokens": 20, "cachedReadTokens": 40}
        return {"stopReason": "end_turn", "usage": usage}

    def do_outside(self, text: str) -> None:
        for number, path in enumerate(("../x", "/etc/x", ".git/hooks/x", "in/x")):
            call = {"toolCallId": f"o{number}", "title": path, "kind": "edit"}
            self.say(str(self.permission({**call, "locations": [{"path": path}]})) + "\n")

    def do_reach(self, text: str) -> None:
        asked = {"sessionId": SESSION, "path": "stray.txt", "content": "x"}
        for method in ("fs/write_text_file", "fs/read_text_file", "terminal/create", "_own/thing"):
            self.say(f"{method} {self.ask(method, {**asked, 'command': 'true'})['code']}\n")

    def do_flood(self, text: str) -> None:
        for number in range(300):
            self._next += 1
            call = {"toolCallId": f"f{number}", "title": "x", "kind": "execute"}
            params = {"sessionId": SESSION, "toolCall": call, "options": OPTIONS}
            self.send({"id": self._next, "method": "session/request_permission", "params": params})
        answers = [self.receive() for _ in range(300)]
        chosen = {answer["result"]["outcome"].get("optionId") for answer in answers}
        self.say(f"{len(answers)} answers: {chosen}")

    def do_much(self, text: str) -> None:
        piece = "x" * 1000
        for _ in range(int(text.split()[1])):
            self.say(piece, "agent_thought_chunk")
            self.update(sessionUpdate="tool_call", toolCallId="m", title=piece, kind="read")

    def do_big(self, text: str) -> None:
        self.say("y" * (5 << 20))

    def do_huge(self, text: str) -> None:
        self.say("z" * (33 << 20))

    def do_nonsense(self, text: str) -> None:
        for line in (
            *("not json", "", "[]", "42", '"x"', "{}", '{"id": {}}', '{"id": 77, "error": "x"}'),
            *('{"method": 5, "id": 1}', '{"method": "session/update", "params": 3}', "[" * 10_000),
            *('{"method": "session/update"}', '{"id": 9999, "result": {}}', "\\xff\\xfe"),
        ):
            self.raw(line)
        self.update(sessionUpdate="of_the_future", x=1)
        self.update(sessionUpdate="tool_call", title=5)
        bad = self.ask("session/request_permission", {"sessionId": SESSION})
        self.say(f"still here {bad['code']}")

    def do_string_error(self, text: str) -> dict[str, Any]:
        return {"error": "plain words"}

    def do_crash(self, text: str) -> None:
        self.say("half a ")
        sys.stderr.write("Segmentation fault, more or less\n")
        sys.stderr.flush()
        os._exit(9)

    def do_hang(self, text: str) -> None:
        self.say("hm")
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        time.sleep(600)

    def do_patient(self, text: str) -> dict[str, Any]:
        """Be silent until cancelled."""
        self.say("waiting")
        while not self.cancelled:
            self.receive()
        self.say("given up")
        return {"stopReason": "cancelled"}

    def do_fail(self, text: str) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(text.partition(" ")[2])
        return {"error": error}

    def do_excuse(self, text: str) -> None:
        self.say(text.partition(" ")[2])

    def do_stop(self, text: str) -> dict[str, Any]:
        return {"stopReason": text.split()[1]}

    def do_mcp(self, text: str) -> None:
        self.say(json.dumps(self.mcp))

    def do_environment(self, text: str) -> None:
        self.say(json.dumps(sorted(os.environ)))


if __name__ == "__main__":
    Agent(sys.argv[1] if len(sys.argv) > 1 else "").run()
