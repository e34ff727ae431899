"""Every command, in the imperative: one Struct for each operation.

The same Struct is the command of the command line, the HTTP body, the MCP tool and the entry of the
reference; an interface may change how it looks, never what it means. `rules` decides on commands.

Annotations are evaluated here (no `from __future__ import annotations`), because interfaces read
the descriptions from the classes.
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
Shown = A[Token, _about("the token of the claim")]
# UNSET fields are filled in from the repository and its settings (`store/service`).
Ttl = A[int | UnsetType, _about("seconds until the claim lapses unless it is renewed")]
LeaseTtl = A[int | UnsetType, _about("seconds until the lease lapses unless it is renewed")]
Reason = A[str, _about("why, in one line")]
Priority = A[int, _about("0 or more; higher numbers go first")]
Needs = A[tuple[TaskId, ...], _about("a task that must land before this one starts")]
Paths = A[tuple[str, ...], _about("a path or pattern that the task may change, like 'src/auth/**'")]
Accept = A[tuple[str, ...], _about("a command that must exit 0 on the result")]
Inputs = A[tuple[str, ...], _about("a file that must exist before the task starts")]
Engine = A[str, _about("the engine profile to run it with")]
Brief = A[str, _about("the full description of the task")]


class CreateConvoy(Command, frozen=True, kw_only=True):
    """Create a convoy: a group of related tasks that share a feature branch."""

    name = "convoy create"
    title: A[
        str, _about("the purpose of the convoy; its id and the ids of its tasks are made from it")
    ]
    base: A[str | UnsetType, _about("the branch that it starts from and lands on")] = UNSET
    strategy: A[str, _about("how its work lands: rebase, squash or merge")] = ""
    checks: A[tuple[str, ...], _about("a command that must exit 0 before work lands")] = ()


class AddTask(Command, frozen=True, kw_only=True):
    """Add a task to the board."""

    name = "task add"
    title: A[str, _about("the task in one line")]
    convoy: A[ConvoyId, _about("its convoy; optional if there is only one")] = ConvoyId("")
    priority: Priority = 0
    needs: Needs = ()
    paths: Paths = ()
    accept: Accept = ()
    inputs: Inputs = ()
    engine: Engine = ""
    brief: Brief = ""
    assignee: A[str, _about("reserve it for one person or agent")] = ""
    run: A[tuple[str, ...], _about("the program to run, for engines of type shell")] = ()
    role: A[str, _about("the role: a file in .corral/roles, without its extension")] = ""
    urgent: A[bool, _about("may use the reserved slots")] = False
    parent: A[TaskId, _about("the task to add it below")] = TaskId("")
    budget: A[int, _about("how many tasks below it may be open at once")] = 0
    levels: A[int, _about("how many levels of tasks may be below it")] = 0
    every: A[int, _about("recur every N beats; the first run is immediate")] = 0
    cron: A[str, _about("recur at the times of a cron line (UTC), like '0 3 * * 1-5'")] = ""
    missed: A[str, _about("dates missed while no witness ran: once (the default) or skip")] = ""


class EditTask(Command, frozen=True, kw_only=True):
    """Change what a task asks for, while nobody is working on it."""

    name = "task edit"
    task: Task
    title: A[str | None, _about("the new title")] = None
    priority: A[int | None, _about("the new priority")] = None
    needs: A[tuple[TaskId, ...], _about("another task that must land before this one starts")] = ()
    drop_needs: A[tuple[TaskId, ...], _about("a task that it no longer needs")] = ()
    paths: A[tuple[str, ...] | None, _about("the new paths, replacing the old ones")] = None
    accept: A[tuple[str, ...] | None, _about("the new acceptance commands")] = None
    inputs: A[tuple[str, ...] | None, _about("the new inputs")] = None
    engine: A[str | None, _about("the new engine profile")] = None
    brief: A[str | None, _about("the new brief")] = None


class ApplyPlan(Command, frozen=True, kw_only=True):
    """Create the convoy and the tasks of a plan, or update them: all or nothing."""

    name = "plan apply"
    plan: A[Plan, _about("a convoy with its tasks")]


class ClaimTask(Command, frozen=True, kw_only=True):
    """Claim a task: nobody else can work on it until the claim ends or lapses."""

    name = "task claim"
    task: A[TaskId | None, _about("the task; if left out, the next one that is ready")] = None
    ttl_s: Ttl = UNSET


class RenewTask(Command, frozen=True, kw_only=True):
    """Extend a claim: it lapses after the given time from now."""

    name = "task renew"
    task: Task
    token: Shown = Token("")
    ttl_s: Ttl = UNSET


class SubmitTask(Command, frozen=True, kw_only=True):
    """Hand in the work of a task, which then waits to land."""

    name = "task submit"
    task: Task
    token: Shown = Token("")
    commit: A[str, _about("the commit to submit")] = ""


class FailTask(Command, frozen=True, kw_only=True):
    """End an attempt without a result."""

    name = "task fail"
    task: Task
    token: Shown = Token("")
    reason: Reason = ""


class BlockTask(Command, frozen=True, kw_only=True):
    """Report that a task cannot continue; its claim ends."""

    name = "task block"
    task: Task
    reason: Reason = ""
    token: Shown = Token("")
    force: A[bool, _about("take it from its holder, without the token")] = False


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
    """Give up a task; any claim on it ends."""

    name = "task cancel"
    task: Task
    reason: Reason = ""
    token: Shown = Token("")


class HandOffTask(Command, frozen=True, kw_only=True):
    """Offer a task to someone else, or to everyone."""

    name = "task hand-off"
    task: Task
    to: A[str, _about("who should get it; if left out, anyone")] = ""
    note: A[str, _about("what the next holder should know")] = ""
    token: Shown = Token("")
    force: A[bool, _about("take it from its holder, without the token")] = False


class LandTask(Command, frozen=True, kw_only=True):
    """Record that a task's work, merged by hand, is on the target branch."""

    name = "task land"
    task: Task
    commit: A[str, _about("the commit on the target branch")] = ""


class CommentTask(Command, frozen=True, kw_only=True):
    """Comment on a task, for everyone to see."""

    name = "task comment"
    task: Task
    text: A[str, _about("the comment")]
    token: Shown = Token("")


class AcquireLease(Command, frozen=True, kw_only=True):
    """Lease a resource for some time: file:PATTERN, port:NUMBER, or any kind:name."""

    name = "lease acquire"
    resource: A[str, _about("like file:src/auth/**, port:8080 or service:db")]
    ttl_s: LeaseTtl = UNSET


class RenewLease(Command, frozen=True, kw_only=True):
    """Extend a lease: it lapses after the given time from now."""

    name = "lease renew"
    resource: A[str, _about("the resource")]
    token: A[Token, _about("the token of the lease")] = Token("")
    ttl_s: LeaseTtl = UNSET


class ReleaseLease(Command, frozen=True, kw_only=True):
    """Release a resource."""

    name = "lease release"
    resource: A[str, _about("the resource")]
    token: A[Token, _about("the token of the lease")] = Token("")


class RaiseAlert(Command, frozen=True, kw_only=True):
    """Ask for a person's attention; a subject has at most one open alert of each kind."""

    name = "alert raise"
    subject: A[str, _about("what it is about: a task, a session, the log")]
    text: A[str, _about("what is wrong, in one line")]
    kind: A[str, _about("a word that distinguishes the alerts about one subject")] = "note"


class ClearAlert(Command, frozen=True, kw_only=True):
    """Resolve an alert."""

    name = "alert clear"
    alert: A[str, _about("the alert, like alert-7")]


class EjectChange(Command, frozen=True, kw_only=True):
    """Remove a task from the queue; its work is kept, and `task retry` puts it on the board."""

    name = "queue eject"
    task: Task
    reason: Reason = ""


class PrioritiseChange(Command, frozen=True, kw_only=True):
    """Move a task that is waiting to land forward or back in the queue."""

    name = "queue prioritise"
    task: Task
    priority: Priority = 100


class ReportCheck(Command, frozen=True, kw_only=True):
    """Report the result of a check run by another CI."""

    name = "queue report"
    check: A[str, _about("the check run, like R42, as `corral queue list` shows it")]
    result: A[str, _about("green or red")]
    detail: A[str, _about("what failed, or where to read about it")] = ""
    commit: A[str, _about("the commit that was checked, which must be that of the run")] = ""


class AcknowledgeAlert(Command, frozen=True, kw_only=True):
    """Report that you are working on an alert; it stays open until it is cleared."""

    name = "alert acknowledge"
    alert: A[str, _about("the alert, like alert-7")]


class Pause(Command, frozen=True, kw_only=True):
    """Stop starting sessions and landing work, for one convoy or all; running sessions continue."""

    name = "pause"
    sessions: A[bool, _about("pause only starting new sessions")] = False
    landing: A[bool, _about("pause only landing; running checks finish")] = False
    convoy: A[ConvoyId, _about("only this convoy")] = ConvoyId("")
    reason: Reason = ""


class Resume(Command, frozen=True, kw_only=True):
    """Start sessions and land work again, for one convoy or all."""

    name = "resume"
    sessions: A[bool, _about("resume only starting new sessions")] = False
    landing: A[bool, _about("resume only landing")] = False
    convoy: A[ConvoyId, _about("only this convoy")] = ConvoyId("")


class StopSession(Command, frozen=True, kw_only=True):
    """Stop a session and all of its processes; the witness carries it out."""

    name = "session stop"
    session: A[SessionId, _about("the session, like AF-1.1")]
    reason: Reason = "stopped by hand"


class SendText(Command, frozen=True, kw_only=True):
    """Send text to a running session: what to do next, or the answer that it is waiting for."""

    name = "session send"
    session: A[SessionId, _about("the session, like AF-1.1")]
    text: A[str, _about("the text")]
    answers: A[str, _about("the question that it answers, if there are several")] = ""


class ReportProgress(Command, frozen=True, kw_only=True):
    """Report the progress of a session in one line."""

    name = "session report"
    session: A[SessionId, _about("the session, like AF-1.1")]
    text: A[str, _about("its progress, in one line")]
    outputs: A[int | None, _about("how many outputs it has made so far")] = None


class SendMessage(Command, frozen=True, kw_only=True):
    """Send a message, which is delivered once, at the recipient's next turn."""

    name = "message send"
    to: A[str, _about("a session (AF-1.1), a task (AF-1), role:NAME, or people")]
    text: A[str, _about("the text")]
    question: A[bool, _about("ask for an answer, and be shown as waiting for it")] = False
    reply_to: A[str, _about("the message that this answers, like m-7")] = ""
    ttl_s: A[int, _about("seconds until it expires if nobody takes it")] = 86_400


class ReadMessages(Command, frozen=True, kw_only=True):
    """Read your new messages; each is delivered once."""

    name = "message read"


class AcknowledgeMessage(Command, frozen=True, kw_only=True):
    """Acknowledge a message that you have read, which closes it."""

    name = "message ack"
    message: A[str, _about("the message, like m-7")]
