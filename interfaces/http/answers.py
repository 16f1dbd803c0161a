"""Answers of the service, noted by their `X-Request-ID`, so that feedback is on what they told."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Final

import structlog
from fastapi import Request

from interfaces.http.limits import request_id_of
from schema import Principal, Subject
from schema.errors import BrokerFailed, CircuitOpen, NotFound
from schema.settings import Settings
from stores.answers import Answers
from stores.breaker import CircuitBreaker, State
from stores.redis import open_redis

_log = structlog.get_logger()
_ASK_SECONDS: Final = 1.0
"""How long Redis may take; then an answer goes out without a note of it."""
_AWAY_SECONDS: Final = 5.0
"""For how long nothing is noted where Redis failed."""


class ToldAnswers:
    """The answers of the whole service. Of those that go out while Redis is away nothing is noted, and the log says so.

    May be asked from many threads.
    """

    def __init__(self, settings: Settings) -> None:
        self._redis = open_redis(settings, timeout=_ASK_SECONDS, retries=0)
        self._answers = Answers(self._redis)
        self._breaker = CircuitBreaker(
            "answers", (BrokerFailed,), threshold=1, open_seconds=_AWAY_SECONDS, on_change=_tell
        )

    def note(self, request: Request, principal: Principal, subject: Subject, memory_ids: Iterable[uuid.UUID]) -> None:
        """Note which memories of a subject a request was told."""
        name = _name(request_id_of(request), principal, subject)
        try:
            self._breaker.call(self._answers.note, name, memory_ids)
        except (BrokerFailed, CircuitOpen):
            return

    def told(self, request_id: str, principal: Principal, subject: Subject) -> frozenset[uuid.UUID]:
        """Return which memories of a subject the principal's key was told by a request.

        Raises:
            NotFound: it made no such request in the last hour.
            BrokerFailed: nobody can tell.
        """
        told = self._answers.told(_name(request_id, principal, subject))
        if told is None:
            raise NotFound(
                "no search or context of this subject was answered under that X-Request-ID to this key in the last hour"
            )
        return told

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()


def _name(request_id: str, principal: Principal, subject: Subject) -> str:
    return json.dumps([*principal.who[:2], subject.subject_id, request_id])


def _tell(_part: str, state: State) -> None:
    if state is State.OPEN:
        _log.warning("answers_not_noted", reason="the broker does not answer", so="feedback on them is refused")
