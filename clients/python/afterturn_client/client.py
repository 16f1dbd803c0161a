"""The client that waits for its answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from afterturn_client import preferences as wishes
from afterturn_client import requests
from afterturn_client.calls import as_method, heard, paged, sent
from afterturn_client.configuration import configured
from afterturn_client.enqueuer import CLOSE_SECONDS, Bounds, Enqueued, Enqueuer
from afterturn_client.errors import RequestFailed
from afterturn_client.model import Event, Memory, Page, Proof
from afterturn_client.processes import OfProcess
from afterturn_client.requests import Request
from afterturn_client.spool import Depth, Rejected
from afterturn_client.sse import Listening, listening
from afterturn_client.turns import Written, turn_of

P = ParamSpec("P")
T = TypeVar("T")


def _enqueued(build: Callable[P, Written]) -> Callable[Concatenate[Client, P], Enqueued]:
    def enqueue(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Enqueued:
        return self._enqueuer.put(build(*args, **kwargs))

    return as_method(build, enqueue, name="enqueue")


class Client:
    """An Afterturn service. Make one per process, when it starts, and share it between threads.

    `url` and `key` default to AFTERTURN_URL and AFTERTURN_API_KEY. Turns wait in `spool_dir`, a folder on a local disk
    that clients of the same key on a machine may share (unset: one of this account's own for this URL and key); give
    each tenant another. It is made at once, connections and threads with the first use, so a client may be made before
    a fork. `enqueue` is back within `budget_ms`: what is not on the disk by then is not accepted. `timeout` is in
    seconds, for each answer; what may be sent again is sent `attempts` times.

    Raises:
        ValueError: the URL or the key cannot be one.
        SpoolUnavailable: the spool's folder cannot be written.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        spool_dir: Path | str | None = None,
        spool_max_turns: int = 100_000,
        spool_max_bytes: int = 256 * 1024 * 1024,
        budget_ms: float = 50.0,
        timeout: float = 10.0,
        attempts: int = 3,
    ) -> None:
        from afterturn_client.senders import Sync
        from afterturn_client.transport import link_to

        configuration = configured(url, key, timeout=timeout, attempts=attempts)
        link = link_to(configuration)
        self._enqueuer = Enqueuer(link, Bounds(spool_dir, spool_max_turns, spool_max_bytes, budget_ms / 1000))
        self._http = OfProcess(lambda: Sync(link))

    enqueue = _enqueued(turn_of)
    search = sent(requests.search)
    context = sent(requests.context)
    remember = sent(requests.remember)
    memories = paged(requests.memories)
    get = sent(requests.get)
    edit = sent(requests.edit)
    forget = sent(requests.forget)
    pin = sent(requests.pin)
    unpin = sent(requests.unpin)
    archive = sent(requests.archive)
    restore = sent(requests.restore)
    suppress = sent(requests.suppress)
    unsuppress = sent(requests.unsuppress)
    preferences = sent(wishes.preferences)
    want = sent(wishes.want)
    block_topic = sent(wishes.block_topic)
    unblock_topic = sent(wishes.unblock_topic)
    check = sent(wishes.check)
    events = heard(listening)

    def flush(self, timeout: float) -> int:
        """Wait at most `timeout` seconds for all turns to be sent, and return how many are left."""
        return self._enqueuer.flush(timeout)

    def spooled(self) -> Depth:
        """Return how many turns wait on this machine's disk, and how many the service will never take."""
        return self._enqueuer.depth()

    def rejected(self, limit: int = 100) -> list[Rejected]:
        """Return turns that the service will never take, oldest first, each with the reason."""
        return self._enqueuer.rejected(limit)

    def drop_rejected(self, turns: Iterable[Rejected]) -> int:
        """Drop turns that the service will never take from this machine's disk, where they fill the spool; return how
        many were still there."""
        return self._enqueuer.drop_rejected(turns)

    def forget_user(self, user_id: str) -> Proof:
        """Erase all that the service knows of a user, and what they said that lies in this machine's spool.

        The answer is the proof, of what the service knew. What waits in another machine's spool was said before, and is
        dropped by the service when it comes; what was rejected there stays, as does here what was rejected without a
        `user_id`: see `drop_rejected`.

        Raises:
            RequestFailed: the service did not do it; the class says why. Nothing was dropped here.
            SpoolUnavailable: the spool cannot be used; ask again.
        """
        last = self._enqueuer.last()
        proof = self.send(requests.forget_user(user_id))
        self._enqueuer.drop_user(user_id, last)
        return proof

    def close(self, timeout: float = CLOSE_SECONDS) -> int:
        """Send what can be sent in `timeout` seconds and close; return how many turns are left for the next client."""
        waiting = self._enqueuer.close(timeout)
        if (http := self._http.take()) is not None:
            http.close()
        return waiting

    def send(self, request: Request[T]) -> T:
        """Send a request that is not among the methods."""
        return self._http.get().send(request)

    def pages(self, first: Request[Page]) -> Iterator[Memory]:
        """Yield what is on a page and on those behind it."""
        request = first
        while True:
            page = self.send(request)
            yield from page.items
            if page.cursor is None:
                return
            request = requests.page_behind(first, page.cursor)

    def listen(self, listening: Listening) -> Iterator[Event]:
        """Yield events over as many connections as it takes."""
        while True:
            failure: RequestFailed | None = None
            try:
                for chunk in self._http.get().chunks(listening.request()):
                    yield from listening.heard(chunk)
            except RequestFailed as error:
                failure = error
            time.sleep(listening.pause(failure))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
