"""A cache of what was read of subjects, bounded in bytes."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar

from cachetools import LRUCache


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=_Sized)


class ByteLRU(Generic[K, V]):
    """Values by key, the least recently used first out. Safe to call from many threads.

    `capacity` is in bytes, as the values' own `size` counts them; a value that is larger is not kept.
    """

    def __init__(self, capacity: int) -> None:
        self._values: LRUCache[K, V] = LRUCache(capacity, getsizeof=lambda value: value.size)
        self._lock = Lock()

    @property
    def capacity(self) -> int:
        return int(self._values.maxsize)

    def get(self, key: K) -> V | None:
        """Return what is kept under a key, which counts as a use."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep a value in the place of what was under its key."""
        with self._lock:
            self._values.pop(key, None)
            if value.size <= self._values.maxsize:
                self._values[key] = value

    def drop(self, key: K) -> None:
        """Forget what is under a key, if anything is."""
        with self._lock:
            self._values.pop(key, None)
