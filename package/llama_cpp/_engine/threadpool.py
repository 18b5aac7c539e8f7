"""Thread pools of the CPU backend, shared between contexts: which cores they run on, and how they wait for work."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING

from llama_cpp._native.bindings import ggml, ggml_cpu

from . import runtime
from .errors import InvalidArgumentError, ThreadPoolError
from .handle import Handle
from .returns import log_mark, require_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .context import Context

_HIGHEST_POLL = 100
_PRIORITIES = range(ggml.GGML_SCHED_PRIO_LOW, ggml.GGML_SCHED_PRIO_REALTIME + 1)


class ThreadPool(Handle[ggml.ggml_threadpool_t]):
    """An owned `ggml_threadpool`. Contexts that it is attached to use it until it is detached or closed.

    Args:
        n_threads: How many threads, 1 to 512.
        priority: -1 (low) to 3 (realtime); `ggml_sched_priority`.
        poll: How eagerly waiting threads look for work, 0 (they sleep) to 100.
        cpus: The numbers of the CPUs to run on; none leaves it to the system.
        strict: Each thread on one CPU of its own.

    Raises `InvalidArgumentError` for values out of range, `ThreadPoolError` when the system refuses.
    """

    def __init__(self, n_threads: int, *, priority: int = 0, poll: int = 50, cpus: Iterable[int] = (), strict: bool = False) -> None:
        runtime.start()
        chosen = frozenset(cpus)
        if not 1 <= n_threads <= ggml.GGML_MAX_N_THREADS:
            raise InvalidArgumentError(f"n_threads={n_threads} is out of range: 1 to {ggml.GGML_MAX_N_THREADS}")
        if priority not in _PRIORITIES:
            raise InvalidArgumentError(f"priority={priority} is out of range: {_PRIORITIES[0]} to {_PRIORITIES[-1]}")
        if not 0 <= poll <= _HIGHEST_POLL:
            raise InvalidArgumentError(f"poll={poll} is out of range: 0 to {_HIGHEST_POLL}")
        if not all(0 <= cpu < ggml.GGML_MAX_N_THREADS for cpu in chosen):
            raise InvalidArgumentError(f"CPU numbers must be 0 to {ggml.GGML_MAX_N_THREADS - 1}, not {sorted(chosen)}")
        params = ggml.ggml_threadpool_params_default(n_threads)
        params.prio, params.poll, params.strict_cpu = priority, poll, strict
        for cpu in chosen:
            params.cpumask[cpu] = True
        mark = log_mark()
        pointer = ggml_cpu.ggml_threadpool_new(ctypes.byref(params))
        self.n_threads = n_threads
        self._users: weakref.WeakSet[Context] = weakref.WeakSet()
        self._own(require_pointer(pointer, ThreadPoolError, "the thread pool could not be created", mark), ggml_cpu.ggml_threadpool_free)

    def used_by(self, context: Context) -> None:
        """Remember who has to let go of it before it is freed."""
        self._users.add(context)

    def close(self) -> None:
        """Detach it from every context, and free it."""
        for context in list(self._users):
            if not context.closed and self in context.threadpools:
                context.detach_threadpool()
        super().close()
