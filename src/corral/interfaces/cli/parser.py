"""Read a command's words. Built with argparse for the one command that was asked for."""

from argparse import SUPPRESS, ArgumentParser, HelpFormatter, Namespace
from typing import NoReturn

from corral.core.errors import BadInput
from corral.core.text import printable
from corral.interfaces.cli.catalogue import Entry, Option, options_of, summary
from corral.interfaces.cli.output import columns


class _Formatter(HelpFormatter):
    def __init__(self, prog: str) -> None:
        # Left to itself, argparse loads another module for every command to find the width.
        super().__init__(prog, max_help_position=28, width=min(100, columns()))


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{self.prog}: {printable_long(message)}", f"{self.prog} --help")


def parse(entry: Entry, words: list[str]) -> Namespace:
    return parser_for(entry).parse_args(words)


def parser_for(entry: Entry) -> ArgumentParser:
    parser = _Parser(
        prog=f"corral {entry.name}",
        description=_sentence(summary(entry)),
        allow_abbrev=False,
        formatter_class=_Formatter,
    )
    for option in options_of(entry):
        _add(parser, option, entry)
    return parser


def printable_long(text: str) -> str:
    return text if len(text) <= 300 and text.isprintable() else printable(text)


def _add(parser: ArgumentParser, option: Option, entry: Entry) -> None:
    help_text = option.help.replace("%", "%%")
    if option.kind == "flag":
        parser.add_argument(option.flag, action="store_true", help=help_text)
    elif not option.flag.startswith("-"):
        optional = entry.name == "task claim"
        parser.add_argument(
            option.flag,
            nargs="?" if optional else None,
            metavar=option.flag.upper(),
            help=help_text,
            choices=option.choices or None,
        )
    else:
        parser.add_argument(
            option.flag,
            action="append" if option.kind == "list" else "store",
            type=int if option.kind == "number" else str,
            default=option.default,
            choices=option.choices or None,
            metavar=None if option.choices else _metavar(option),
            help=help_text or SUPPRESS,
        )


def _metavar(option: Option) -> str:
    if option.kind == "number":
        return "N"
    return option.flag.lstrip("-").split("-")[-1].upper()


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
