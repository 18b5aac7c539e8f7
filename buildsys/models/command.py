"""`python -m buildsys models`: listing, fetching and checking model files. The work is the catalogue's."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from buildsys.errors import BuildError
from buildsys.models import carried, catalog, synth

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "models"
HELP = "List, fetch, verify and generate the models that tests and benchmarks use."
PIPED_WIDTH = 120
EXAMPLE = "python -m buildsys models fetch smollm2-135m-instruct"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all models, and which are in the cache")
    listing.set_defaults(act=_list)
    fetching = actions.add_parser("fetch", help="download or generate models; damaged files are replaced")
    _selection(fetching)
    fetching.set_defaults(act=_fetch)
    verifying = actions.add_parser("verify", help="hash cached files again; without a selection all that are there")
    _selection(verifying, required=False)
    verifying.set_defaults(act=_verify)
    locating = actions.add_parser("path", help="print the path of a model's file, fetching it if need be")
    locating.add_argument("name", metavar="NAME")
    locating.add_argument("--offline", action="store_true", help="fail rather than use the network")
    locating.set_defaults(act=_path)
    exporting = actions.add_parser("export", help="copy all models of the conformance suite into a folder: `conformance --models` takes it")
    exporting.add_argument("folder", type=Path, metavar="DIR")
    exporting.set_defaults(act=_export)
    generating = actions.add_parser("synth", help="generate synthetic models and print their paths")
    generating.add_argument("architectures", nargs="*", metavar="ARCH", help="all when none is named")
    generating.add_argument("--out", type=Path, metavar="DIR", help="folder to write to (default: the cache)")
    generating.add_argument("--vocab-size", type=_positive, metavar="N", help="pad the vocabulary to N tokens")
    generating.set_defaults(act=_synth, parser=generating)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    act: Callable[[argparse.Namespace], int] = args.act
    return act(args)


def _selection(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--role", default="", help="all models that play this role")
    parser.add_argument("--all", action="store_true", help="every model")
    parser.set_defaults(selection_required=required, parser=parser)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _chosen(args: argparse.Namespace) -> tuple[catalog.Model, ...]:
    if args.all:
        return catalog.catalogue()
    if args.selection_required and not (args.names or args.role):
        args.parser.error("name a model, or give --role or --all")
    return catalog.select(args.names, role=args.role)


def _list(args: argparse.Namespace) -> int:
    del args
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "size", "licence", "roles", "present"):
        table.add_column(heading, justify="right" if heading == "size" else "left", no_wrap=True)
    for model in catalog.catalogue():
        size = model.size()
        table.add_row(
            model.name,
            "" if size is None else f"{size / 1e6:.1f} MB",
            model.licence,
            ", ".join(model.roles),
            "yes" if model.complete() else "no",
        )
    console = Console() if sys.stdout.isatty() else Console(width=PIPED_WIDTH)
    console.print(table)
    console.print(f"cache: {catalog.models_dir()}", soft_wrap=True, markup=False, highlight=False)
    return 0


def _fetch(args: argparse.Namespace) -> int:
    """Fetch every chosen model even when one fails; the first failure decides the exit code."""
    return _for_each(_chosen(args), lambda model: str(catalog.ensure(model, thorough=True)))


def _verify(args: argparse.Namespace) -> int:
    chosen = _chosen(args) or tuple(model for model in catalog.catalogue() if model.path.is_file())
    if not chosen:
        print(f"no models in {catalog.models_dir()}", file=sys.stderr)

    def check(model: catalog.Model) -> str:
        catalog.verify(model)
        return f"{model.name}: intact"

    return _for_each(chosen, check)


def _for_each(models: tuple[catalog.Model, ...], act: Callable[[catalog.Model], str]) -> int:
    failures: list[BuildError] = []
    for model in models:
        try:
            print(act(model), flush=True)
        except BuildError as error:
            failures.append(error)
            if len(models) > 1:
                print(f"{model.name}: failed", file=sys.stderr)
    if not failures:
        return 0
    for failure in failures[1:]:
        print(f"error: {failure.message}\n  next: {failure.hint}", file=sys.stderr)
    raise failures[0]


def _path(args: argparse.Namespace) -> int:
    (model,) = catalog.select([args.name])
    print(catalog.ensure(model, offline=args.offline))
    return 0


def _export(args: argparse.Namespace) -> int:
    for model in carried.export(args.folder):
        print(f"{model.variable}={model.file}  {model.size / 1e6:.1f} MB  {model.sha256}")
    return 0


def _synth(args: argparse.Namespace) -> int:
    rows = tuple(map(synth.find, args.architectures)) or synth.SYNTHETIC_MODELS
    if args.vocab_size:
        if not args.architectures:
            args.parser.error("with --vocab-size, name the architecture")
        rows = tuple(row.with_vocabulary(args.vocab_size) for row in rows)
    for row in rows:
        print(synth.generate(row, args.out / row.file if args.out else catalog.GeneratedModel(row).path))
    return 0
