"""Whether there is a GPU for a model whose layers the caller wants on one; placing them is llama.cpp's."""

from __future__ import annotations

import warnings

from llama_cpp._engine.runtime import start
from llama_cpp._native.accelerators import accelerators, gpu_devices

AUTOMATIC = -1


def warn_without_gpu(asked: int | str, layers: int, *, stacklevel: int) -> None:
    """Warn when `asked`, which comes to `layers`, asks for a GPU that isn't there; the model runs on the CPU then.

    "auto" asks for nothing, nor does -1 of an installation that has no code for a GPU: both take what there is.
    """
    if layers == 0 or str(asked).strip().lower() == "auto":
        return
    absences = [each.absence for each in accelerators(start()) if each.absence is not None]
    if gpu_devices() or (layers == AUTOMATIC and not absences):
        return
    why = " ".join(str(absence) for absence in absences) or (
        "this installation has code for the CPU only. To use a GPU, install a wheel that was built for it."
    )
    warnings.warn(f"Llama: n_gpu_layers={asked!r} has no effect: {why}", UserWarning, stacklevel=stacklevel)
