"""What can be asked for, in the imperative: one Struct for each operation.

The same Struct is the command line's command, the HTTP body, the MCP tool and the reference page;
an interface may change how it looks, never what it means. `rules` decides on them.

Annotations are evaluated here (no `from __future__ import annotations`): interfaces read the
descriptions straight from the classes.
"""

from typing import Annotated as A
from typing import Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from corral.core.ids import ConvoyId, SessionId, TaskId, Token
from corral.core.plan.schema import Plan

COMMANDS: dict[str, type["Command"]] = {}


class Command(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to change the state. Subclasses register themselves under their `name`."""

    name: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            COMMANDS[cls.name] = cls


def _about(text: str) -> Meta:
    return Meta(description=text)


Task = A[TaskId, _about("the task, like AF-1")]
Shown = A[Token, _about("the token that the claim answered with")]
# Fields that are UNSET are filled in from what the repository says (`store/service`).
Ttl = A[int | UnsetType, _about("seconds until the claim lapses unless it is renewed")]
LeaseTtl = A[int | UnsetType, _about("seconds until the lease lapses unless it is renewed")]
Reason = A[str, _about("why, in one line")]
Priority = A[int, _about("0 or more; higher goes first")]
Needs = A[tuple[TaskId, ...], _about("a task that must have landed before this one starts")]
Paths = A[tuple[str, ...], _about("a path or pattern that the task may change, like 'src/auth/**'")]
Accept = A[tuple[str, ...], _about("a command that must exit 0 on the result")]
Inputs = A[tuple[str, ...], _about("a file that must exist before the task starts")]
Engine = A[str, _about("the engine profile that should do it")]
Brief = A[str, _about("what is asked, in full")]


class CreateConvoy(Command, frozen=True, kw_only=True):
    """Open a convoy: a group of related tasks with one feature branch."""

    name = "convoy create"
    title: A[str, _about("what the convoy is for; its id and its tasks' ids are made from it")]
    base: A[str | UnsetType, _about("the branch that it starts from and lands on")] = UNSET
    strategy: A[str, _about("how its work lands: rebase, squash or merge")] = ""
    checks: A[tuple[str, ...], _about("a command that must exit 0 before anything lands")] = ()


class AddTask(Command, frozen=True, kw_only=True):
    """Put a task on the board."""

    name = "task add"
    title: A[str, _about("the task in one line")]
    convoy: A[ConvoyId, _about("its convoy; not needed if there is only one")] = ConvoyId("")
    priority: Priority = 0
    needs: Needs = ()
    paths: Paths = ()
    accept: Accept = ()
    inputs: Inputs = ()
    engine: Engine = ""
    brief: Brief = ""
    assignee: A[str, _about("reserve it for one claimer")] = ""
    run: A[tuple[str, ...], _about("the program that does it, for engines of the type shell")] = ()
    role: A[str, _about("the role: a file of .corral/roles without its ending")] = ""
    urgent: A[bool, _about("may use the slots in reserve")] = False
    parent: A[TaskId, _about("the task that it belongs below")] = TaskId("")
    budget: A[int, _about("how many tasks below it may be open at once")] = 0
    levels: A[int, _about("how many levels of tasks may be below it")] = 0
    every: A[int, _about("come back every so many beats; the first time is at once")] = 0
    cron: A[str, _about("come back at the dates of a cron line (UTC), like '0 3 * * 1-5'")] = ""
    missed: A[str, _about("dates that passed with no witness: once (the default) or skip")] = ""


class EditTask(Command, frozen=True, kw_only=True):
    """Change what a task asks for, while nobody works on it."""

    name = "task edit"
    task: Task
    title: A[str | None, _about("the new title")] = None
    priority: A[int | None, _about("the new priority")] = None
    needs: A[tuple[TaskId, ...], _about("one more task that must have landed before")] = ()
    drop_needs: A[tuple[TaskId, ...], _about("a task that it does not need any more")] = ()
    paths: A[tuple[str, ...] | None, _about("the new paths, in place of the old")] = None
    accept: A[tuple[str, ...] | None, _about("the new acceptance commands")] = None
    inputs: A[tuple[str, ...] | None, _about("the new inputs")] = None
    engine: A[str | None, _about("the new engine profile")] = None
    brief: A[str | None, _about("the new brief")] = None


class ApplyPlan(Command, frozen=True, kw_only=True):
    """Make the convoy and the tasks of a plan, or bring them up to date: all of it or nothing."""

    name = "plan apply"
    plan: A[Plan, _about("a convoy with its tasks")]


class ClaimTask(Command, frozen=True, kw_only=True):
    """Take a task: nobody else can have it until the claim ends or lapses."""

    name = "task claim"
    task: A[TaskId | None, _about("the task; without it, the next one that is ready")] = None
    ttl_s: Ttl = UNSET


class RenewTask(Command, frozen=True, kw_only=True):
    """Keep a claim: it now lapses after the given time from now."""

    name = "task renew"
    task: Task
    token: Shown = Token("")
    ttl_s: Ttl = UNSET


class SubmitTask(Command, frozen=True, kw_only=True):
    """Hand in the work of a task; it then waits to land."""

    name = "task submit"
    task: Task
    token: Shown = Token("")
    commit: A[str, _about("the commit that is handed in")] = ""


class FailTask(Command, frozen=True, kw_only=True):
    """End an attempt that came to nothing."""

    name = "task fail"
    task: Task
    token: Shown = Token("")
    reason: Reason = ""


class BlockTask(Command, frozen=True, kw_only=True):
    """Say that a task cannot go on; its claim ends."""

    name = "task block"
    task: Task
    reason: Reason = ""
    token: Shown = Token("")
    force: A[bool, _about("take it away from its holder, without the token")] = False


class UnblockTask(Command, frozen=True, kw_only=True):
    """Put a blocked task back on the board."""

    name = "task unblock"
    task: Task


class RetryTask(Command, frozen=True, kw_only=True):
    """Put a task back on the board for another attempt."""

    name = "task retry"
    task: Task
    reason: Reason = ""


class CancelTask(Command, frozen=True, kw_only=True):
    """Give a task up; a claim on it ends."""

    name = "task cancel"
    task: Task
    reason: Reason = ""
    token: Shown = Token("")


class HandOffTask(Command, frozen=True, kw_only=True):
    """Give a task to somebody else, or back to everybody."""

    name = "task hand-off"
    task: Task
    to: A[str, _about("who should have it; left out: anyone")] = ""
    note: A[str, _about("what the next one should know")] = ""
    token: Shown = Token("")
    force: A[bool, _about("take it away from its holder, without the token")] = False


class LandTask(Command, frozen=True, kw_only=True):
    """Record that the work of a task is on the target branch, for work that was merged by hand."""

    name = "task land"
    task: Task
    commit: A[str, _about("the commit on the target branch")] = ""


class CommentTask(Command, frozen=True, kw_only=True):
    """Say something about a task, for everybody."""

    name = "task comment"
    task: Task
    text: A[str, _about("what to say")]
    token: Shown = Token("")


class AcquireLease(Command, frozen=True, kw_only=True):
    """Take a named resource for a time: file:PATTERN, port:NUMBER, or any kind:name."""

    name = "lease acquire"
    resource: A[str, _about("like file:src/auth/**, port:8080 or service:db")]
    ttl_s: LeaseTtl = UNSET


class RenewLease(Command, frozen=True, kw_only=True):
    """Keep a lease: it now lapses after the given time from now."""

    name = "lease renew"
    resource: A[str, _about("the resource")]
    token: A[Token, _about("the token that acquire answered with")] = Token("")
    ttl_s: LeaseTtl = UNSET


class ReleaseLease(Command, frozen=True, kw_only=True):
    """Give a resource back."""

    name = "lease release"
    resource: A[str, _about("the resource")]
    token: A[Token, _about("the token that acquire answered with")] = Token("")


class RaiseAlert(Command, frozen=True, kw_only=True):
    """Ask for a person's eye; while one is open for a subject and kind, it is not raised again."""

    name = "alert raise"
    subject: A[str, _about("what it is about: a task, a session, the log")]
    text: A[str, _about("what is wrong, in one line")]
    kind: A[str, _about("a word that tells alerts of one subject apart")] = "note"


class ClearAlert(Command, frozen=True, kw_only=True):
    """Say that an alert was dealt with."""

    name = "alert clear"
    alert: A[str, _about("the alert, like alert-7")]


class EjectChange(Command, frozen=True, kw_only=True):
    """Take a task out of the queue; its work is kept, and `task retry` puts it on the board."""

    name = "queue eject"
    task: Task
    reason: Reason = ""


class PrioritiseChange(Command, frozen=True, kw_only=True):
    """Let a task that waits to land go first, or last."""

    name = "queue prioritise"
    task: Task
    priority: Priority = 100


class ReportCheck(Command, frozen=True, kw_only=True):
    """Say how a check run came out that somebody else's CI has done."""

    name = "queue report"
    check: A[str, _about("the check run, like R42, as `corral queue list` shows it")]
    result: A[str, _about("green or red")]
    detail: A[str, _about("what failed, or where to read it")] = ""
    commit: A[str, _about("the commit that was checked; must be the run's")] = ""


class AcknowledgeAlert(Command, frozen=True, kw_only=True):
    """Say that an alert was seen and somebody is at it; it stays open until it is cleared."""

    name = "alert acknowledge"
    alert: A[str, _about("the alert, like alert-7")]


class Pause(Command, frozen=True, kw_only=True):
    """Start no new sessions and land nothing, for one convoy or all; sessions that run go on."""

    name = "pause"
    sessions: A[bool, _about("pause only the start of new sessions")] = False
    landing: A[bool, _about("pause only landing; checks that run are finished")] = False
    convoy: A[ConvoyId, _about("only this convoy")] = ConvoyId("")
    reason: Reason = ""


class Resume(Command, frozen=True, kw_only=True):
    """Start sessions and land work again, for one convoy or whatever was paused for all."""

    name = "resume"
    sessions: A[bool, _about("resume only the start of new sessions")] = False
    landing: A[bool, _about("resume only landing")] = False
    convoy: A[ConvoyId, _about("only this convoy")] = ConvoyId("")


class StopSession(Command, frozen=True, kw_only=True):
    """End a session and all that it started; the witness sees to it."""

    name = "session stop"
    session: A[SessionId, _about("the session, like AF-1.1")]
    reason: Reason = "stopped by hand"


class SendText(Command, frozen=True, kw_only=True):
    """Say something to a session that runs: what to do next, or the answer that it waits for."""

    name = "session send"
    session: A[SessionId, _about("the session, like AF-1.1")]
    text: A[str, _about("what to say")]
    answers: A[str, _about("the question that it answers, if several are open")] = ""


class ReportProgress(Command, frozen=True, kw_only=True):
    """Say in one line where a session is."""

    name = "session report"
    session: A[SessionId, _about("the session, like AF-1.1")]
    text: A[str, _about("where it is, in one line")]
    outputs: A[int | None, _about("how many things it has made so far")] = None


class SendMessage(Command, frozen=True, kw_only=True):
    """Send a message; it is delivered once, at the other's next turn."""

    name = "message send"
    to: A[str, _about("a session (AF-1.1), a task (AF-1), role:NAME, or people")]
    text: A[str, _about("what to say")]
    question: A[bool, _about("you wait for an answer, and are seen as waiting")] = False
    reply_to: A[str, _about("the message that this answers, like m-7")] = ""
    ttl_s: A[int, _about("seconds until it is given up if nobody takes it")] = 86_400


class ReadMessages(Command, frozen=True, kw_only=True):
    """Take the messages that wait for you: each is delivered once."""

    name = "message read"


class AcknowledgeMessage(Command, frozen=True, kw_only=True):
    """Say that a message which you took was understood; it is over then."""

    name = "message ack"
    message: A[str, _about("the message, like m-7")]
