"""When what failed is tried again."""

from __future__ import annotations

import random
from typing import Any, Final

from afterturn_client.errors import AfterturnError, NotConnected, Unavailable
from afterturn_client.requests import Request

_FIRST_SECONDS: Final = 0.2
_LONGEST_SECONDS: Final = 5.0


def pause_before(attempt: int, request: Request[Any], error: AfterturnError, *, attempts: int) -> float | None:
    """Return after how many seconds a request is sent again that failed `attempt` times, or None if it is not.

    What may have been done is sent again only where twice is as good as once. 503 says that nothing was done.
    """
    if attempt >= attempts or not isinstance(error, Unavailable):
        return None
    nothing_was_done = isinstance(error, NotConnected) or (error.problem is not None and error.problem.status == 503)
    if not (request.harmless or nothing_was_done):
        return None
    if error.retry_after is not None:
        # Whoever waits for an answer does not want to wait for long: the error says when.
        return error.retry_after if error.retry_after <= _LONGEST_SECONDS else None
    return backoff(attempt, _FIRST_SECONDS, _LONGEST_SECONDS)


def backoff(failures: int, first: float, longest: float) -> float:
    """Return a pause that doubles with each failure, with up to half of it left out by chance: clients must not come
    back all at once."""
    pause = min(longest, first * 2.0 ** min(failures - 1, 30))
    return pause * (1 - random.random() / 2)
