"""`python -m llama_cpp`: what this installation consists of, and what is wrong with it."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from typing import TYPE_CHECKING

from llama_cpp._engine.report import system_report
from llama_cpp._engine.report_text import render

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXAMPLES = """\
examples:
  python -m llama_cpp                       the report as tables
  python -m llama_cpp --json | jq .plugins  the same as JSON

The exit code is 0 when models can run, 1 when something keeps them from it.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m llama_cpp",
        description="Report the native libraries, backends and devices of this llama_cpp_python installation.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON for programs and bug reports")
    options = parser.parse_args(arguments)
    report = system_report()
    print(json.dumps(report.as_dict(), indent=2) if options.json else render(report))
    return 0 if report.ok else 1


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the report quietly
    sys.exit(main())
