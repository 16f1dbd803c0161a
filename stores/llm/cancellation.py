"""Cancel a call of a model that waited for its turn and whose answer is wanted no longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None]] = ContextVar("still_wanted", default=lambda: None)


@contextmanager
def wanted_while(check: Callable[[], None]) -> Iterator[None]:
    """Have each call of a model in the block preceded by a check, which raises where nobody would take the answer."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def ensure_wanted() -> None:
    """Raise what the check of the block raises, if the answer to a call would come to nobody."""
    _check.get()()
