"""Things that a process must make for itself: connections, files and threads, none of which outlive a fork."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")


class OfProcess(Generic[T]):
    """One value a process, made when it is first asked for; a child process makes its own."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._value: T | None = None
        _ALL.add(self)

    def get(self) -> T:
        """Return the value of this process."""
        value = self._value
        if value is not None:
            return value
        with self._lock:
            if self._value is None:
                self._value = self._make()
            return self._value

    def there(self) -> T | None:
        """Return the value if it was made."""
        return self._value

    def take(self) -> T | None:
        """Return the value if it was made, for its end; who asks again gets a new one."""
        with self._lock:
            value, self._value = self._value, None
        return value

    def _begin_anew_in_child(self) -> None:
        self._lock = Lock()
        if self._value is not None:
            _OF_PARENT.append(self._value)
        self._value = None


_ALL: Final[weakref.WeakSet[OfProcess[Any]]] = weakref.WeakSet()
_OF_PARENT: Final[list[Any]] = []
"""Kept for ever in a child: closing an inherited SQLite file or TLS connection would harm the parent's."""


def _after_fork() -> None:
    for owner in list(_ALL):
        owner._begin_anew_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
