"""Proving CPU dispatch: an installed wheel run as older processors, under emulation."""

from buildsys.dispatch.runner import DispatchResult, run_dispatch

__all__ = ["DispatchResult", "run_dispatch"]
