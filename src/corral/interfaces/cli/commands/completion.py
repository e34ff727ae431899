"""Shell completion: a small script for each shell, which calls `corral __complete`."""

from collections.abc import Iterable
from itertools import chain, islice

from corral.core.errors import CorralError
from corral.interfaces.cli.catalogue import ENTRIES, options_of
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options

_MOST = 500

_SCRIPTS = {
    # Not with `compgen -W`: it expands its words, and names come from the log.
    "bash": """\
_corral() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$(printf %q "$candidate")")
    done < <(corral __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _corral corral""",
    "zsh": """\
#compdef corral
_corral() {
    local -a found
    found=(${(f)"$(corral __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    compadd -a found
}
compdef _corral corral""",
    "fish": """\
complete -c corral -f \\
    -a '(corral __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'\
""",
}


def script(context: Context, options: Options) -> None:
    text = _SCRIPTS[options.shell]
    context.answer({"shell": options.shell, "script": text}, lambda: text)


def candidates(words: list[str]) -> list[str]:
    """Return the words that could replace the last one."""
    current = words[-1] if words else ""
    return [word for word in _all(words[:-1], current) if word.startswith(current)]


def _all(before: list[str], current: str) -> Iterable[str]:
    entry = ENTRIES.get(" ".join(before[:2])) or ENTRIES.get(" ".join(before[:1]))
    if not before:
        return dict.fromkeys(name.split()[0] for name in ENTRIES)
    following = [name.split()[1] for name in ENTRIES if name.startswith(f"{before[0]} ")]
    if entry is None or (len(before) == 1 and following and not current.startswith("-")):
        return following if len(before) == 1 else ()
    options = options_of(entry)
    if current.startswith("-"):
        return [option.flag for option in options if option.flag.startswith("-")]
    asked = next((o for o in options if o.flag == before[-1]), None)
    if asked is None:
        asked = next((o for o in options if not o.flag.startswith("-")), None)
    if asked is None:
        return ()
    return asked.choices or _known(asked.flag.lstrip("-"))


def _known(what: str) -> Iterable[str]:
    try:
        state = Context(None, None, as_json=False).log.state()
    except CorralError:
        return ()
    found: dict[str, Iterable[str]] = {
        "task": state.tasks,
        "needs": state.tasks,
        "drop-need": state.tasks,
        "convoy": state.convoys,
        "resource": state.leases,
        "alert": state.alerts,
        "thing": chain(state.tasks, state.sessions, state.convoys, state.checks, state.leases),
    }
    return list(islice(found.get(what, ()), _MOST))
