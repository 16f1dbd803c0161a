"""Dynamic batching before a model on this machine: of the texts that wait, those of a length go through it together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Lock, Semaphore
from typing import Final

from stores.batching import Failed, each_alone_on_failure
from stores.embedding.base import Vectors

Tokens = Sequence[int]
PASS_TOKENS: Final = 20
"""The cost of a pass through the model by itself, in tokens: it reads all weights, once for all of its texts. Measured
with MiniLM on one core: 2.7 ms a pass and .12 ms a token."""
MOST_TOKENS: Final = 128
"""How many tokens a pass has at most, with those that fill up short texts; longer texts go alone. What a pass costs by
itself is 2.7 of 18 ms by then."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    tokens: Tokens
    vector: Future[Vectors] = field(default_factory=Future)


class DynamicBatcher:
    """A queue of callers' texts, in the order of coming, before as many cores as the model may have.

    Whoever gets a core takes the first and, of those behind it, whatever costs less in the same pass than in one of its
    own. Nobody waits for company: where a core is free the caller's own thread goes through, for to give a question to
    another and to be woken by it takes two more turns at the interpreter. Safe to call from many threads.
    """

    def __init__(self, pool: Executor, cores: int, work: Callable[[Sequence[Tokens]], Sequence[Vectors]]) -> None:
        """Set up the queue: `work` makes the vectors of the texts of one pass; `pool` has as many threads as there are
        cores."""
        self._pool = pool
        self._cores = Semaphore(cores)
        self._work = each_alone_on_failure(work)
        self._lock = Lock()
        self._texts: deque[_Waiting] = deque()

    def vectors(self, texts: Sequence[Tokens]) -> list[Vectors]:
        """Return the vectors of texts.

        Raises:
            Exception: what the work raised for one of them.
        """
        waiting = [_Waiting(tokens) for tokens in texts]
        with self._lock:
            self._texts.extend(waiting)
        if self._cores.acquire(blocking=False):
            try:
                self._serve()
            finally:
                self._cores.release()
        for text in waiting:
            # One for each: whoever finds that its text went with another's has nothing to do.
            if not text.vector.done():
                self._pool.submit(self._serve_in_turn)
        return [text.vector.result() for text in waiting]

    def _serve_in_turn(self) -> None:
        with self._cores:
            self._serve()

    def _serve(self) -> None:
        with self._lock:
            together = _first_of(self._texts)
        if not together:
            return
        try:
            vectors = self._work([text.tokens for text in together])
        except BaseException as error:  # noqa: BLE001 - raised again where the text came from
            vectors = [Failed(error)] * len(together)
        for text, vector in zip(together, vectors, strict=True):
            if isinstance(vector, Failed):
                text.vector.set_exception(vector.error)
            else:
                text.vector.set_result(vector)


def _first_of(queue: deque[_Waiting]) -> list[_Waiting]:
    """Take the first text out of the queue, and those that cost less with it than alone."""
    together: list[_Waiting] = []
    waiting: list[_Waiting] = []
    longest = 0
    for text in queue:
        length = max(longest, len(text.tokens))
        padded = length * (len(together) + 1)
        filling = padded - longest * len(together) - len(text.tokens)
        if not together or (padded <= MOST_TOKENS and filling < PASS_TOKENS):
            together.append(text)
            longest = length
        else:
            waiting.append(text)
    queue.clear()
    queue.extend(waiting)
    return together
