"""`Singleton`: classes with one instance."""

from __future__ import annotations

import threading
from typing import Any


class MetaSingleton(type):
    """Calls of a class give the same object every time."""

    _instances: dict[type, Any] = {}  # noqa: RUF012 - one for all classes
    _lock = threading.RLock()

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        with cls._lock:
            if cls not in cls._instances:
                cls._instances[cls] = super().__call__(*args, **kwargs)
            return cls._instances[cls]


class Singleton(metaclass=MetaSingleton):
    """A class of which there is one instance, made by the first call. Arguments of later ones are ignored."""
