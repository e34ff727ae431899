"""Judge a session by what the operating system, git and its checks say.

No process of the session is alive at this point, so the tree does not change: the checks run on
exactly what git finds there, and the commit is read again after them.
"""

import os
from collections.abc import Iterable
from os.path import join, normpath
from threading import Semaphore

from msgspec import Struct
from msgspec.structs import replace

from corral.core.config import Config
from corral.core.errors import Failed
from corral.core.log.state import Session, Task
from corral.core.session import verdict
from corral.core.session.brief import changes_nothing
from corral.core.session.fitness import SETUP, UNFIT
from corral.core.session.scripts import protected
from corral.core.session.verdict import REPORTS, RESULT, Judgement, LastWord, Verdict
from corral.roles.log import Log, find_alert
from corral.roles.secrets import Secrets
from corral.roles.trunks import MOVED, SETTINGS, Trunks
from corral.roles.witness import leaks
from corral.roles.witness.launch import Launcher, last_words
from corral.roles.witness.machine_faults import MachineFaults
from corral.roles.witness.session_trees import NotSetUp, SessionTrees
from corral.world.git.tree import read_plain
from corral.world.processes import EndReason, Exit
from corral.world.trees import Tree, TreeFacts, Trees

LEAKED = "leaked"
_CHECK_S = 3600
_COMMIT_S = 600


class Judge(Struct, frozen=True):
    log: Log
    config: Config
    trees: Trees
    trunks: Trunks
    launcher: Launcher
    faults: MachineFaults
    session_trees: SessionTrees
    git: Semaphore

    def by_end(
        self, session: Session, exit_: Exit, word: LastWord | None = None
    ) -> Judgement | None:
        """Judge how the program ended; None if that alone decides nothing."""
        stop = Verdict(session.stop) if session.stop not in ("", RESULT) else None
        if exit_.reason is EndReason.TIMED_OUT:
            stop = Verdict.TIMED_OUT
        elif session.stop == RESULT and exit_.reason is EndReason.STOPPED:
            return None  # it was stopped because it had handed in its result
        words = last_words(self.launcher.room(session.id).launch())
        if exit_.reason is EndReason.LOST and stop is None and not (word and word.said):
            said = f"; its last words: {words}" if words else ""
            return Judgement(Verdict.CRASHED, f"it was killed, and nothing recorded how{said}")
        found = verdict.judge_end(
            verdict.ProgramEnd(
                code=exit_.code,
                signal=exit_.signal,
                stop=stop,
                never_ran=exit_.detail if exit_.reason is EndReason.COULD_NOT_START else "",
                last_words=words,
                word=word,
            )
        )
        if found is None or stop is None:
            return found
        limit = f"longer than {session.wall_s} s"
        return Judgement(
            found.verdict, limit if stop is Verdict.TIMED_OUT else session.detail or found.detail
        )

    def by_work(
        self, session: Session, task: Task, tree: Tree, word: LastWord | None = None
    ) -> tuple[Judgement, str]:
        """Judge what is in the tree and on the branch; return the commit that was proved."""
        self.trunks.at(task.convoy, session)
        elsewhere = "" if _is_connected(tree) else "it replaced the .git of its working tree"
        tree = self.trees.adopt(session.id)
        observer = changes_nothing(task)
        if not observer and not elsewhere:
            self.commit_rest(session, task, tree)
            with self.git:
                self.trees.without(tree, REPORTS, f"Remove the reports of {session.id}")
        with self.git:
            facts = self._without_inherited(task, tree, self.trees.facts(tree))
        leaked = self._leaked(session, tree, facts)
        judges = self._judges(task, tree, facts)
        work = replace(self._work(session, facts, elsewhere), leaked=leaked, judges=judges)
        judgement = verdict.judge_work(work, task.paths, observer=observer)
        if settings := verdict.settings_in(work.changed):
            self.log.alert(
                SETTINGS,
                session.id,
                f"{session.id} changed {', '.join(settings[:5])} on {session.branch}: none of its"
                f" work lands; its commits stay on that branch",
            )
        if judgement is None and (hidden := self._hidden(tree)):
            judgement = verdict.judge_work(
                replace(work, dirty=hidden), task.paths, observer=observer
            )
        judgement = verdict.judge_idle(judgement, word) or self._unresolved(session, tree, facts)
        judgement = judgement or self._not_set_up(session, task, tree)
        if judgement is not None:
            return judgement, ""
        judgement = verdict.judge_checks(self._checks(session, task, tree))
        if judgement.verdict is not Verdict.PROVED:
            return judgement, ""
        commit = self.trees.collect(tree)
        if commit != facts.branch_commit:
            return Judgement(Verdict.OFF_BRANCH, "its branch moved while it was checked"), ""
        return judgement, commit

    def _without_inherited(self, task: Task, tree: Tree, facts: TreeFacts) -> TreeFacts:
        """Leave out Corral's settings that a person changed and the session has merged in."""
        found = verdict.settings_in(facts.changed)
        if not found or facts.branch_commit is None:
            return facts
        state, commit = self.log.look(), facts.branch_commit
        own = self.trunks.settings_in(state, task.convoy, found, commit, tree)
        changed = (path for path in facts.changed if path not in found or path in own)
        return replace(facts, changed=tuple(changed))

    def _leaked(self, session: Session, tree: Tree, facts: TreeFacts) -> str:
        """Say which key is in the work, and where; an empty text means none.

        No later attempt may build on such work, and nobody may push it: it is kept, and the branch
        is reset to its base.
        """
        commit = facts.branch_commit
        if commit is None or not facts.follows_base:
            return ""
        with self.git:
            found = leaks.find(
                self.trunks.view,
                tree.base,
                commit,
                Secrets(self.config, os.environ).keys(),
                tree.borrowed,
            )
            if found is None:
                return ""
            self.trees.put_back(tree, f"it has the value of {found.name}")
        self.log.alert(
            LEAKED,
            session.id,
            f"{session.id} wrote the value of {found.name} into {found.where}: none of its work"
            f" lands, and {session.branch} was reset; that work is kept (corral rescue list)",
        )
        return f"the value of {found.name} is in {found.where}"

    def _unresolved(self, session: Session, tree: Tree, facts: TreeFacts) -> Judgement | None:
        """Refuse work that was returned with a conflict which is still there."""
        returned, commit = self.log.look().returned.get(session.task), facts.branch_commit
        if returned is None or commit is None:
            return None
        left = self.launcher.returned_work.unresolved(session, commit, returned, tree.borrowed)
        verdict = Verdict.NO_CHANGE if commit == returned.commit else Verdict.DIRTY
        return Judgement(verdict, left) if left else None

    def _work(self, session: Session, facts: TreeFacts, elsewhere: str) -> verdict.BranchWork:
        if find_alert(self.log.look(), MOVED, session.id):
            elsewhere = "it moved the convoy's trunk"
        elif elsewhere:
            pass
        elif facts.exists and facts.head_branch != session.branch:
            elsewhere = f"it left its branch for {facts.head_branch or 'a detached HEAD'}"
        elif facts.branch_commit is None:
            elsewhere = "its branch is gone"
        elif not facts.follows_base:
            elsewhere = "its branch does not follow the commit that it started from"
        return verdict.BranchWork(
            exists=facts.exists,
            on_branch=not elsewhere,
            elsewhere=elsewhere,
            commits=facts.commits,
            dirty=tuple(self._uncommitted(session, facts)),
            changed=facts.changed,
            commit=facts.branch_commit or "",
            lost_links=facts.lost_links,
        )

    def _uncommitted(self, session: Session, facts: TreeFacts) -> list[str]:
        """Return what the session left uncommitted; its reports and its set-up do not count."""
        left = self.launcher.room(session.id).left
        own = (path for path in facts.dirty if path not in REPORTS)
        return [path for path in own if not _is_below(path, left)]

    def _judges(self, task: Task, tree: Tree, facts: TreeFacts) -> tuple[str, ...]:
        """Return changed scripts that an acceptance command runs; new ones belong to the work."""
        found = [path for path in protected(task.accept, task.paths) if path in facts.changed]
        if not found:
            return ()
        listed = self.trunks.view.run("ls-tree", "-z", "--name-only", tree.base, *found)
        return tuple(os.fsdecode(path) for path in listed.split(b"\0") if path)

    def _hidden(self, tree: Tree) -> tuple[str, ...]:
        """Return files that the session told git to ignore changes in: nothing is known of them."""
        if not tree.exists:
            return ()
        with self.git, self.trunks.view.desk(tree=tree) as desk:
            listed = desk.run("ls-files", "-v", "-z", fine=(0, 128)).split(b"\0")
        marked = [entry for entry in listed if entry[:1].islower() or entry[:1] == b"S"]
        return tuple(os.fsdecode(entry[2:]) for entry in marked[:10])

    def _not_set_up(self, session: Session, task: Task, tree: Tree) -> Judgement | None:
        """Set the tree up again if the work needs that; return why it cannot be, and by whom."""
        try:
            if task.accept:
                self.session_trees.set_up_again(session, tree)
        except Failed as error:
            if not self.faults.cannot_set_up(tree.base):
                return Judgement(Verdict.CHECKS_FAILED, error.message)
            said = f"{error.message}; it fails on the untouched base, too"
        except NotSetUp as error:
            said = str(error)
        else:
            return None
        self.log.alert(UNFIT, SETUP, said, again=True)
        return Judgement(Verdict.UNFIT, f"{task.accept[0]}: {said}")

    def _checks(
        self, session: Session, task: Task, tree: Tree
    ) -> tuple[verdict.AcceptanceRun, ...]:
        """Run the acceptance commands in the session's tree; stop at the first that fails."""
        done: list[verdict.AcceptanceRun] = []
        for command in task.accept:
            argv = ["/bin/sh", "-c", command]
            ended, said = self.launcher.to_end(
                session, "check", argv, tree, session.wall_s or _CHECK_S
            )
            cause, unfit = "", False
            if ended.code != 0:
                failed = self.launcher.failed(session, tree, command, ended)
                fault, unfit = self.faults.found(session, task, tree, failed)
                cause = fault.said if fault else ""
            done.append(verdict.AcceptanceRun(command, ended.code, said, cause, unfit))
            if ended.code != 0:
                break
        return tuple(done)

    def keep_unfinished(self, session: Session, task: Task, tree: Tree) -> None:
        """Commit unfinished work, so that the next session can continue it."""
        if _is_connected(tree) and not changes_nothing(task):
            self.commit_rest(session, task, self.trees.adopt(session.id), "Unfinished: ")

    def commit_rest(self, session: Session, task: Task, tree: Tree, prefix: str = "") -> None:
        """Commit what is left in the tree, if that is Corral's job for this engine."""
        if not self.launcher.profiles.commits(session.profile, task):
            return
        with self.git:
            facts = self.trees.facts(tree)
        if not self._uncommitted(session, facts) or facts.head_branch != session.branch:
            return
        message = _message(session, task, prefix)
        script = (
            f"git add --all && git reset --quiet -- {' '.join(sorted(REPORTS))} && "
            'git -c core.hooksPath=/dev/null -c commit.gpgSign=false commit --quiet -m "$1"'
        )
        self.launcher.to_end(
            session,
            "commit",
            ["/bin/sh", "-c", script, "sh", message],
            tree,
            _COMMIT_S,
            GIT_DIR=tree.git_dir,
            GIT_WORK_TREE=tree.path,
            GIT_AUTHOR_NAME=f"{session.profile} {session.id}",
        )


def _message(session: Session, task: Task, prefix: str) -> str:
    """Compose the message of a commit made on behalf of a session."""
    trailers = {
        "Task": task.id,
        "Session": session.id,
        "Engine": session.profile,
        "Model": session.model,
    }
    lines = [f"{name}: {value}" for name, value in trailers.items() if value]
    title = f"{prefix}{' '.join(task.title.split())}"
    return "\n".join([title, "", "Committed by Corral on behalf of the session.", "", *lines])


def _is_below(path: str, places: Iterable[str]) -> bool:
    """Say whether a path is one of these, or in one of these folders (which end with `/`)."""
    return any(path == one or (one.endswith("/") and path.startswith(one)) for one in places)


def _is_connected(tree: Tree) -> bool:
    """Say whether the tree is still connected to this repository as it was made."""
    if not tree.exists:
        return True  # there is nothing that could have been replaced
    link = join(tree.path, ".git")
    if tree.git_dir == link:  # a clone of an earlier version
        return os.path.isdir(link) and not os.path.islink(link)
    if os.path.islink(link) or not os.path.isfile(link):
        return False
    said = os.fsdecode((read_plain(link, 4096) or b"").removeprefix(b"gitdir: ").rstrip(b"\n"))
    return normpath(join(tree.path, said)) == normpath(tree.git_dir)
