"""Answers the agent's requests: permissions, by policy, and nothing else.

We declare no file system and no terminals. Some agents request them anyway, with paths that lead
out of the tree; those requests are refused.
"""

import asyncio
import os
from typing import Any

from acp import RequestError, schema
from acp.meta import CLIENT_METHODS
from msgspec import Struct
from pydantic import ValidationError

from corral.core.engine.facts import Asked, Denied
from corral.world.engines.runners.acp.updates import AcpCall, Updates
from corral.world.engines.runners.emit import remark, shortened, tell
from corral.world.engines.runners.inbox import InboxMessage
from corral.world.engines.runners.orders import AcpOrder, PermissionPolicy

_HARMLESS = ("read", "search", "think")
_OPEN_QUESTIONS = 32
_SHELL = frozenset(";&|<>()$`\n\r")


class Question(Struct):
    """A permission request to a person."""

    call: str
    options: list[schema.PermissionOption]
    answer: asyncio.Future[schema.PermissionOption | None]

    def choice(self, message: InboxMessage) -> schema.PermissionOption | None:
        """Return the option that a text selects by name, id, kind or number."""
        said = message.text.strip().casefold()
        for number, option in enumerate(self.options, 1):
            names = (option.name, option.option_id, option.kind, option.kind.split("_")[0])
            if said in (str(number), *(name.casefold() for name in names)):
                return option
        return None


class Client:
    def __init__(self, order: AcpOrder, tree: str, updates: Updates) -> None:
        self._order = order
        self._tree = os.path.realpath(tree)
        self._updates = updates
        self.session = ""
        self.questions: dict[str, Question] = {}

    async def handle(self, method: str, params: Any, is_notification: bool) -> Any:
        """Answer one message of the agent."""
        if method == CLIENT_METHODS["session_update"]:
            self._update(params)
            return None
        if method == CLIENT_METHODS["session_request_permission"]:
            return await self._permission(schema.RequestPermissionRequest.model_validate(params))
        if not is_notification:
            remark(f"refused {method}: we did not declare this capability")
            raise RequestError.method_not_found(method)
        return None

    def answer(self, message: InboxMessage) -> bool:
        """Answer an open question with a text; return False if it answers none."""
        for question in self.questions.values():
            if message.answers in ("", question.call) and not question.answer.done():
                chosen = question.choice(message)
                if chosen is not None:
                    question.answer.set_result(chosen)
                    return True
        return False

    def withdraw(self) -> None:
        """Cancel all open questions, because the turn was cancelled."""
        for question in self.questions.values():
            if not question.answer.done():
                question.answer.cancel()

    def _update(self, params: Any) -> None:
        try:
            notice = schema.SessionNotification.model_validate(params)
        except ValidationError:
            return  # malformed, or of a kind that we do not know
        if self.session in ("", notice.session_id):
            self._updates.take(notice.update)

    async def _permission(self, asked: schema.RequestPermissionRequest) -> Any:
        name = asked.tool_call.tool_call_id
        self._updates.flush()
        call = self._updates.call(asked.tool_call)
        self._updates.tell_call(name, call)
        policy = self._order.policy
        if policy is PermissionPolicy.ASK:
            chosen = await self._ask(name, call, asked.options)
        else:
            edits = policy is PermissionPolicy.ALLOW_EDITS and self._is_allowed(call)
            allowed = edits or policy is PermissionPolicy.ALLOW
            chosen = _option(asked.options, "allow" if allowed else "reject")
        if chosen is None or chosen.kind.startswith("reject"):
            tell(Denied(tool=call.tool or "other", what=shortened(call.what, 300)))
        if chosen is None:
            outcome: Any = schema.DeniedOutcome(outcome="cancelled")
        else:
            outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def _ask(
        self, name: str, call: AcpCall, options: list[schema.PermissionOption]
    ) -> schema.PermissionOption | None:
        refusal = _option(options, "reject")
        if len(self.questions) >= _OPEN_QUESTIONS:
            return refusal
        answer = asyncio.get_running_loop().create_future()
        self.questions[name] = Question(name, options, answer)
        names = tuple(shortened(option.name, 100) for option in options)
        tell(Asked(text=shortened(f"{call.tool}: {call.what}", 500), options=names, call=name))
        try:
            return await asyncio.wait_for(answer, self._order.answer_s)
        except TimeoutError:
            remark(f"no answer within {self._order.answer_s:g} s: refused")
            return refusal
        except asyncio.CancelledError:
            return None
        finally:
            self.questions.pop(name, None)

    def _is_allowed(self, call: AcpCall) -> bool:
        if call.tool in _HARMLESS:
            return True
        if call.tool == "execute":
            # A single program: nothing that a shell would interpret as more than that.
            return not _SHELL & set(call.what) and call.what.split(" ")[0] in self._order.allow
        return call.writes and bool(call.paths) and all(self._inside(p) for p in call.paths)

    def _inside(self, path: str) -> bool:
        real = os.path.realpath(os.path.join(self._tree, path))
        inside = os.path.relpath(real, self._tree).split(os.sep)
        return inside[0] not in ("..", ".git")


def _option(options: list[schema.PermissionOption], way: str) -> schema.PermissionOption | None:
    kinds = (f"{way}_once", f"{way}_always")
    return next((one for kind in kinds for one in options if one.kind == kind), None)
