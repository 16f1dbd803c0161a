"""The methods that both clients have, made of the requests: so that no route and no signature is written twice."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from afterturn_client.model import Event, Memory, Page
from afterturn_client.requests import Request
from afterturn_client.sse import Listening

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Waits(Protocol):
    """A sender that waits for the answer to its request."""

    def send(self, request: Request[T]) -> T:
        """Send a request, and return its answer."""

    def pages(self, first: Request[Page]) -> Iterator[Memory]:
        """Yield what is on a page and on those behind it."""

    def listen(self, listening: Listening) -> Iterator[Event]:
        """Yield events as they come."""


class IsAwaited(Protocol):
    """A sender that is awaited."""

    async def send(self, request: Request[T]) -> T: ...

    def pages(self, first: Request[Page]) -> AsyncIterator[Memory]: ...

    def listen(self, listening: Listening) -> AsyncIterator[Event]: ...


def sent(build: Callable[P, Request[T]]) -> Callable[Concatenate[Waits, P], T]:
    """Make a method of the waiting client of what builds a request."""

    def call(self: Waits, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(build(*args, **kwargs))

    return as_method(build, call)


def paged(build: Callable[P, Request[Page]]) -> Callable[Concatenate[Waits, P], Iterator[Memory]]:
    """Make an iterating method of the waiting client."""

    def call(self: Waits, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[Memory]:
        return self.pages(build(*args, **kwargs))

    return as_method(build, call)


def heard(build: Callable[P, Listening]) -> Callable[Concatenate[Waits, P], Iterator[Event]]:
    """Make a listening method of the waiting client."""

    def call(self: Waits, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[Event]:
        return self.listen(build(*args, **kwargs))

    return as_method(build, call)


def awaited(build: Callable[P, Request[T]]) -> Callable[Concatenate[IsAwaited, P], Coroutine[Any, Any, T]]:
    """Make a method of the awaited client."""

    def call(self: IsAwaited, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self.send(build(*args, **kwargs))

    return as_method(build, call)


def paged_async(build: Callable[P, Request[Page]]) -> Callable[Concatenate[IsAwaited, P], AsyncIterator[Memory]]:
    """Make an iterating method of the awaited client."""

    def call(self: IsAwaited, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Memory]:
        return self.pages(build(*args, **kwargs))

    return as_method(build, call)


def heard_async(build: Callable[P, Listening]) -> Callable[Concatenate[IsAwaited, P], AsyncIterator[Event]]:
    """Make a listening method of the awaited client."""

    def call(self: IsAwaited, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Event]:
        return self.listen(build(*args, **kwargs))

    return as_method(build, call)


def as_method(build: Callable[..., Any], call: F, *, name: str | None = None) -> F:
    """Let a method be shown as what it was made of: its name, its words, its parameters behind self."""
    signature = inspect.signature(build)
    myself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    shown = {
        "__name__": name or build.__name__,
        "__qualname__": name or build.__name__,
        "__doc__": build.__doc__,
        "__signature__": signature.replace(parameters=[myself, *signature.parameters.values()]),
    }
    for attribute, value in shown.items():
        setattr(call, attribute, value)
    return call
