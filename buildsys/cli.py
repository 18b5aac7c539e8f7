"""The command line: one module per command, imported only when it is called."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from buildsys.errors import BuildError

COMMANDS = {
    "vendor": "buildsys.vendor.command",
    "build": "buildsys.pipeline.command",
    "compile": "buildsys.pipeline.compile_command",
    "package": "buildsys.pipeline.package_command",
    "repair": "buildsys.repair.command",
    "sbom": "buildsys.sbom.command",
    "cibuildwheel": "buildsys.cibuildwheel.command",
    "matrix": "buildsys.matrix.command",
    "reproduce": "buildsys.reproduce.command",
    "sdist": "buildsys.sdist.command",
    "toolkits": "buildsys.toolkits.command",
    "audit": "buildsys.audit.command",
    "bindgen": "buildsys.bindgen.command",
    "models": "buildsys.models.command",
    "conformance": "buildsys.conformance.command",
    "clients": "buildsys.clients.command",
    "dispatch": "buildsys.dispatch.command",
    "wine": "buildsys.wine.command",
    "systems": "buildsys.systems.command",
    "index": "buildsys.index.command",
    "bump": "buildsys.bump.command",
    "release": "buildsys.release.command",
}


class Command(Protocol):
    """What a command module exposes."""

    NAME: str
    HELP: str
    EXAMPLE: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; returns the exit code."""
        ...


def load_command(name: str) -> Command:
    """Import the module that implements `name`."""
    return cast("Command", importlib.import_module(COMMANDS[name]))


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser; with `only`, just that command's module is imported."""
    parser = argparse.ArgumentParser(
        prog="python -m buildsys",
        description="Build, repair, audit and prove wheels of llama_cpp_python.",
        epilog="example: python -m buildsys build linux_x86_64-cpu",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS if only is None else [only]:
        command = load_command(name)
        subparser = subparsers.add_parser(
            name,
            help=command.HELP,
            description=command.HELP,
            epilog=f"example: {command.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.configure(subparser)
        subparser.set_defaults(handler=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a :class:`BuildError` becomes its message and its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    only = arguments[0] if arguments and arguments[0] in COMMANDS else None
    args = build_parser(only).parse_args(arguments)
    try:
        return int(args.handler(args))
    except BuildError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  next: {error.hint}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
