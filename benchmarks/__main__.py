"""`python -m benchmarks`: takes all measurements and prints one table. Missed targets are told, never an exit code."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks import environments, machine
from benchmarks.arena import Arena
from benchmarks.contestant import Contestant, Launch
from benchmarks.environments import Subject
from benchmarks.interleave import MeasurementError
from benchmarks.line import Line
from benchmarks.report import print_report, write_json
from benchmarks.rows import ROWS, Row
from buildsys.conformance.interpreters import Interpreter
from buildsys.errors import BuildError

BUSY = 0.5


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    listing = "\n".join(f"  {row.key:<12} {row.title}" for row in ROWS)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the package against a bare native loop and the published peer, in turn, in one run.",
        epilog=f"rows:\n{listing}\n\nexample: python -m benchmarks greedy chain --rounds 9 --json build/bench.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to measure (default: all)")
    subject = parser.add_mutually_exclusive_group()
    subject.add_argument("--wheel", type=Path, metavar="FILE", help="the wheel to measure (default: the newest in dist/)")
    subject.add_argument("--libraries", type=Path, metavar="DIR", help="measure the working tree on these libraries instead of a wheel")
    parser.add_argument("--python", default="", metavar="X.Y", help="the Python of all contestants (default: this one's version)")
    parser.add_argument("--rounds", type=_positive, default=7, metavar="N", help="repetitions of each contestant (default: 7)")
    parser.add_argument("--tokens", type=_positive, default=256, metavar="N", help="length of a completion (default: 256)")
    parser.add_argument("--threads", type=_positive, metavar="N", help="for package and bare loop (default: the package's choice)")
    parser.add_argument("--no-peer", action="store_true", help="leave the published peer out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the chosen rows; the exit code tells whether they could be measured, not whether the targets are met."""
    parser = build_parser()
    args = parser.parse_args(argv)
    known = {row.key: row for row in ROWS}
    if unknown := [key for key in args.rows if key not in known]:
        parser.error(f"no row {', '.join(unknown)}; rows are {', '.join(known)}")
    try:
        facts, lines = measure([known[key] for key in dict.fromkeys(args.rows or known)], args)
    except BuildError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  next: {error.hint}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    print_report(facts, lines)
    if args.json:
        write_json(args.json, facts, lines)
    return 1 if any(line.failure for line in lines) else 0


def measure(rows: Sequence[Row], args: argparse.Namespace) -> tuple[dict[str, str], list[Line]]:
    """Take the rows one after the other, and say on what."""
    started, load = time.monotonic(), machine.load()
    interpreter = environments.find_interpreter(args.python)
    with ExitStack() as stack:
        subject = stack.enter_context(_subject(args, interpreter))
        arena = _arena(stack, subject, interpreter, args)
        lines = [line for row in rows for line in _measured(row, arena)]
    facts = {
        "machine": machine.describe(),
        "load before": f"{load:.2f}" + (" (not idle: the figures are noisy)" if load > BUSY else ""),
        "measured": subject.label,
        "Python": interpreter.release,
        **_seen(arena),
        "rounds": f"{args.rounds}, {time.monotonic() - started:.0f} s in all",
    }
    return facts, lines


def _measured(row: Row, arena: Arena) -> Sequence[Line]:
    try:
        return row.measure(arena)
    except MeasurementError as error:
        return [Line(row=row.key, measured=row.title, failure=str(error))]
    finally:
        arena.release()


@contextmanager
def _subject(args: argparse.Namespace, interpreter: Interpreter) -> Iterator[Subject]:
    if args.libraries:
        yield environments.tree_subject(args.libraries, interpreter)
    else:
        with environments.wheel_subject(args.wheel or environments.newest_wheel(), interpreter) as subject:
            yield subject


def _arena(stack: ExitStack, subject: Subject, interpreter: Interpreter, args: argparse.Namespace) -> Arena:
    peer, reason = None, ""
    if not args.no_peer:
        try:
            launch = stack.enter_context(environments.peer_launch(subject.libraries, interpreter))
            peer, reason = _start(stack, "peer", launch), ""
        except BuildError as error:
            reason = error.message
    return Arena(
        ours=_start(stack, "package", subject.ours),
        bare=_start(stack, "bare loop", subject.bare),
        peer=peer,
        peer_failure=reason,
        rounds=args.rounds,
        tokens=args.tokens,
        threads=args.threads,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )


def _start(stack: ExitStack, name: str, launch: Launch) -> Contestant:
    return stack.enter_context(Contestant(name, launch))


def _seen(arena: Arena) -> dict[str, str]:
    """What the contestants themselves say: threads, context, CPU variant."""
    ours = arena.seen.get("package")
    if ours is None:
        return {}
    variants = {who: ", ".join(made.backends) or "not told by this system" for who, made in arena.seen.items()}
    same = len(set(variants.values())) == 1
    return {
        "version": ours.version,
        "threads": f"{ours.n_threads} (prompts {ours.n_threads_batch}), n_ctx {ours.n_ctx}",
        "CPU variant": variants["package"] if same else "DIFFERENT: " + "; ".join(f"{who} {name}" for who, name in variants.items()),
    }


if __name__ == "__main__":
    sys.exit(main())
