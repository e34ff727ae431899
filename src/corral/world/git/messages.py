"""The text of the commits that land: author, message and trailers.

Everything is bytes, because a commit may have any encoding. A declared encoding is converted to
UTF-8, as `git rebase` does; text that cannot be converted keeps its bytes and encoding.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from corral.core.errors import BadInput
from corral.world.git.objects import CommitObject

Trailer = tuple[str, str]

_KEY = re.compile(rb"[A-Za-z0-9-]+[ \t]*:")
_GENERATED = (b"Signed-off-by: ", b"(cherry picked from commit ")
_OURS = re.compile(rb"^Refinery-(?:Run|Tested):.*(?:\n|\Z)", re.MULTILINE | re.IGNORECASE)
_CO_AUTHOR = b"co-authored-by"
_PERSON = re.compile(rb"(.*?) ?<([^<>\n]*)> (-?\d+ [+-]\d{4})", re.DOTALL)


class Identity(Struct, frozen=True):
    name: str
    email: str

    def line(self, at_s: int) -> bytes:
        if not self.name or any(sign in self.name + self.email for sign in "<>\n\0"):
            raise BadInput(f"{self.name!r} <{self.email!r}> is not a valid commit author")
        return f"{self.name} <{self.email}> {at_s} +0000".encode()


class Text(Struct, frozen=True):
    """An author line and a message, and their encoding if it is not UTF-8."""

    author: bytes
    message: bytes
    encoding: bytes = b""


def commit_object(tree: str, parents: Iterable[str], text: Text, committer: bytes) -> bytes:
    lines = [b"tree " + tree.encode(), *(b"parent " + one.encode() for one in parents)]
    lines += [b"author " + text.author, b"committer " + committer]
    lines += [b"encoding " + text.encoding] if text.encoding else []
    return b"\n".join(lines) + b"\n\n" + text.message


def replayed(commit: CommitObject, trailers: Sequence[Trailer]) -> Text:
    """Return a commit's own author and message, with trailers added."""
    author, message, encoding = _in_utf8(commit)
    message = message if message.strip() else b"(no message)\n"
    return Text(author, with_trailers(message, trailers), encoding)


def reapplied(commit: CommitObject) -> Text:
    """Return the text of a commit that brings reverted work back, as `git revert` words it."""
    author, message, encoding = _in_utf8(commit)
    said = b'Reapply "%s"\n\nThis reapplies commit %s.\n'
    return Text(author, said % (_subject(message), commit.oid.encode()), encoding)


def squashed(title: str, commits: Sequence[CommitObject], trailers: Sequence[Trailer]) -> Text:
    """Combine the commits of a branch, oldest first, into one text.

    The author is the one with the most commits (the earliest on a tie), with the date of their last
    one; the others become co-authors. The body lists the commit messages.
    """
    read = [_in_utf8(commit) for commit in commits]
    people = [_person(author) for author, _, _ in read]
    emails = [email.lower() for _, email in people]
    most = Counter(emails).most_common(1)[0][0]
    author = read[len(emails) - 1 - emails[::-1].index(most)][0]
    given = [_split(message) for _, message, _ in read]
    seen = {most}
    lines: list[bytes] = []
    for line in _co_authors(people, given):
        email = line.rpartition(b"<")[2].rstrip(b"> \t").lower()
        if email not in seen:
            seen.add(email)
            lines.append(line)
    kept = [one for _, block in given for one in block if not _is_co_author(one)]
    message = title.encode() or _subject(given[0][0])
    said = _body([text for text, _ in given], title.encode())
    message = b"%s\n\n%s\n" % (message, said) if said else message + b"\n"
    block = list(dict.fromkeys([*kept, *lines]))
    if block:
        message = _appended(message, block)
    return Text(author, with_trailers(message, trailers))


def with_trailers(message: bytes, trailers: Iterable[Trailer]) -> bytes:
    """Add trailers that are not there yet, where `git interpret-trailers` would put them."""
    lines = []
    for key, value in trailers:
        if not _KEY.fullmatch(f"{key}:".encode()) or "\n" in value:
            raise BadInput(f"{key!r}: {value!r} is not a valid commit trailer")
        lines.append(f"{key}: {value}".encode())
    for line in lines:
        if line not in _split(message)[1]:
            message = _appended(message, [line])
    return message


def _appended(message: bytes, lines: Sequence[bytes]) -> bytes:
    text = message.rstrip(b"\n")
    between = b"\n" if _split(message)[1] else b"\n\n"
    return text + between + b"\n".join(lines) + b"\n"


def _split(message: bytes) -> tuple[bytes, list[bytes]]:
    """Split a message into its text and its trailers, by git's rule for a trailer block.

    It is the last paragraph, never the first: all trailers, or at least a quarter if git made one.
    """
    text = message.rstrip()
    start, end = text.rpartition(b"\n\n")[0], text.rpartition(b"\n\n")[2].split(b"\n")
    if not start.strip():
        return message, []
    trailers, others, generated = 0, 0, False
    for number, line in enumerate(end):
        if line.startswith(_GENERATED):
            trailers, generated = trailers + 1, True
        elif _KEY.match(line):
            trailers += 1
        elif not (number and line[:1] in (b" ", b"\t") and trailers):
            others += 1
    if trailers and (not others or (generated and trailers * 3 >= others)):
        return start + b"\n", _unfolded(end)
    return message, []


def _unfolded(lines: Sequence[bytes]) -> list[bytes]:
    """Join a line that begins with a space to the previous one."""
    found: list[bytes] = []
    for line in lines:
        if found and line[:1] in (b" ", b"\t"):
            found[-1] += b"\n" + line
        else:
            found.append(line)
    return found


def _co_authors(
    people: Sequence[tuple[bytes, bytes]], given: Sequence[tuple[bytes, list[bytes]]]
) -> Iterable[bytes]:
    for (name, email), (_, block) in zip(people, given, strict=True):
        yield b"Co-authored-by: %s <%s>" % (name, email)
        yield from (line for line in block if _is_co_author(line))


def _is_co_author(line: bytes) -> bool:
    return line.lower().startswith(_CO_AUTHOR)


def _subject(text: bytes) -> bytes:
    first = text.lstrip(b"\n").partition(b"\n\n")[0]
    return b" ".join(first.split(b"\n")).strip() or b"(no message)"


def _body(texts: Sequence[bytes], title: bytes) -> bytes:
    """List the messages of the commits, without subjects that only repeat the title."""
    parts = []
    for text in texts:
        subject, rest = _subject(text), text.lstrip(b"\n").partition(b"\n\n")[2].strip(b"\n")
        told = subject == title or (len(texts) == 1 and not title)
        head = [] if told else [b"* " + subject]
        parts += [b"\n\n".join([*head, rest + b"\n"] if rest else head)]
    return b"\n".join(part for part in parts if part).strip(b"\n")


def _person(author: bytes) -> tuple[bytes, bytes]:
    found = _PERSON.fullmatch(author)
    return (found[1], found[2]) if found else (author, author)


def _in_utf8(commit: CommitObject) -> tuple[bytes, bytes, bytes]:
    """Return author, message and their remaining encoding.

    Trailers reserved for the refinery are removed: a branch may contain cherry-picked landed work.
    """
    author, message, encoding = commit.author, commit.message, commit.encoding
    if encoding:
        with suppress(LookupError, UnicodeError):
            codec = codecs.lookup(encoding.decode())
            author, message = (codec.decode(part)[0].encode() for part in (author, message))
            encoding = b""
    return author, _OURS.sub(b"", message), encoding
