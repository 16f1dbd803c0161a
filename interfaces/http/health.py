"""Liveness and readiness of the service."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from multiprocessing import TimeoutError as NoAnswerInTime
from typing import Any, Final

from fastapi import APIRouter, Response
from redis import RedisError

from interfaces.bounded import ask_all
from interfaces.http.problems import problem
from interfaces.http.service import Opened
from schema.errors import AfterturnError
from stores.index.server import SERVERS, must_answer

router = APIRouter(tags=["health"])

_SECONDS: Final = 4.0
"""How long the stores may take in all: less than a probe of the Helm chart waits."""
_AWAY: Final = (RedisError, AfterturnError, NoAnswerInTime)


# What watches a service from outside mostly asks with HEAD.
@router.head("/livez", include_in_schema=False)
@router.get("/livez", summary="Whether the process answers; asks no store")
def livez() -> dict[str, Any]:
    """Answer at once: a store that is away is no reason to start the process again."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False, response_model=None)
@router.get("/readyz", summary="Whether the stores answer", response_model=None)
def readyz(service: Opened) -> dict[str, Any] | Response:
    """Ask at once what every route needs: the broker, the catalog, and the index where it is a server of its own. An
    embedded index, pgvector and the graph answer with the catalog."""
    context = service.context
    questions: dict[str, Callable[[], object]] = {"broker": context.redis.ping, "catalog": context.catalog.keys.any}
    if service.settings.index in SERVERS:
        questions["index"] = partial(must_answer, context.index)
    away = []
    for part, answer in ask_all(questions, _SECONDS):
        if isinstance(answer, _AWAY):
            away.append(part)
        elif isinstance(answer, Exception):
            raise answer
    if away:
        detail = f"{' and '.join(away)} cannot be reached"
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "5"})
    return {"status": "ok"}
