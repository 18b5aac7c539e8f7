"""Helpers around ctypes that programs import from here."""

from ctypes import byref

from ._native.foreign_functions import ctypes_function_for_shared_library, load_shared_library

__all__ = ["byref", "ctypes_function_for_shared_library", "load_shared_library"]
