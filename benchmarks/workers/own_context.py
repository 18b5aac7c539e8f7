"""Times `Llama` and, in the same process and on the same context, the bare loop: what differs is Python's share alone.

Between two processes the memory layout, the place of threads and the operating system differ too, by more than that share.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.protocol import Reading, Ready, Setup, Task
from benchmarks.workers.bare import BareLoop
from benchmarks.workers.llama_class import LlamaClass
from benchmarks.workers.native import Native
from benchmarks.workers.serve import serve


class OwnContext:
    """A `LlamaClass` whose contexts the bare loop may borrow."""

    def __init__(self, folder: Path) -> None:
        self._package = LlamaClass()
        self._folder = folder
        self._bare: BareLoop | None = None

    def prepare(self, setup: Setup) -> Ready:
        """Construct a `Llama`, and lend its context to the bare loop."""
        ready = self._package.prepare(setup)
        if self._bare is None:
            self._bare = BareLoop(Native(self._folder, running=True))
        llama = self._package.llama(setup)
        self._bare.borrow(setup, model=llama.model, context=llama.ctx)
        return ready

    def measure(self, task: Task) -> Reading:
        """Time whole calls, or the bare loop; the package's object forgets its tokens before and after that."""
        if not task.bare or self._bare is None:
            return self._package.measure(task)
        llama = self._package.llama(task.setup)
        llama.reset()
        try:
            return self._bare.measure(task)
        finally:
            llama.reset()

    def release(self) -> None:
        """Close every `Llama`."""
        if self._bare is not None:
            self._bare.forget()
        self._package.release()


def main() -> None:
    """Serve, with the libraries of the folder that the first argument names: those of the package."""
    serve(OwnContext(Path(sys.argv[1])))
