"""`python -m buildsys clients`: programs that sit on `llama_cpp`, unchanged, on a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from buildsys.clients.runner import ClientResult, run_clients
from buildsys.errors import ConformanceFailedError
from buildsys.matrix.wheels import built_for
from buildsys.toolkits.request import this_system

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

NAME = "clients"
HELP = "Run programs of others that sit on llama_cpp, unchanged, each in an environment of its own."
EXAMPLE = "python -m buildsys clients langchain llm"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help="clients by name (default: all of conformance/clients)")
    parser.add_argument("--wheel", type=Path, metavar="WHEEL", help="a wheel for this machine (default: the CPU wheel in dist/)")
    parser.add_argument("--python", metavar="X.Y", help="the Python to run them with (default: the newest found)")


def run(args: argparse.Namespace) -> int:
    """Run the clients; the exit code says whether all did as they should."""
    wheel = args.wheel or built_for(this_system(), accelerated=False)[-1]
    results = run_clients(wheel, names=args.clients or None, python=args.python)
    print_results(results)
    broken = [result.client for result in results if not result.ok]
    if broken:
        raise ConformanceFailedError(f"clients: {', '.join(broken)}", hint="repeat one with `python -m buildsys clients NAME`")
    return 0


def print_results(results: Sequence[ClientResult]) -> None:
    """One row per client."""
    table = Table("client", "seconds", "verdict", box=None)
    for result in results:
        table.add_row(result.client, f"{result.seconds:.0f}", result.verdict)
    Console(soft_wrap=True, highlight=False, markup=False).print(table)
