"""Liveness and readiness of the service."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from multiprocessing import TimeoutError as NoAnswerInTime
from typing import Any, Final, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from redis import RedisError

from interfaces.http.problems import problem
from interfaces.http.service import Opened
from interfaces.timeouts import ask_all
from schema.errors import AfterturnError
from stores.index.server import SERVERS, must_answer

router = APIRouter(tags=["health"])

_SECONDS: Final = 4.0
"""How long the stores may take in all: less than a probe of the Helm chart waits."""
_AWAY: Final = (RedisError, AfterturnError, NoAnswerInTime)
_NEEDED: Final = "catalog"
"""Without it nobody's key can be told; without another store much can be done all the same."""

State = Literal["ok", "away"]


class ReadyOut(BaseModel):
    """Readiness for requests, and the stores that answer: `degraded` where one that not all requests need does not."""

    status: Literal["ok", "degraded"]
    stores: dict[str, State] = Field(description="the broker, the catalog, and the index where it has a server")


# What watches a service from outside mostly asks with HEAD.
@router.head("/livez", include_in_schema=False)
@router.get("/livez", summary="Whether the process answers; asks no store")
def livez() -> dict[str, Any]:
    """Answer at once: a store that is away is no reason to start the process again."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False, response_model=None)
@router.get(
    "/readyz",
    summary="Whether requests should come here, and which stores answer",
    response_model=ReadyOut,
    responses={HTTPStatus.SERVICE_UNAVAILABLE: {}},
)
def readyz(service: Opened) -> ReadyOut | Response:
    """Ask all stores at once: 503 while the catalog is away. While it is the broker, or the index where that is a
    server of its own, requests may come: turns are taken where they may be spooled, and what needs that store says 503
    for itself. An embedded
    index, pgvector and the graph answer with the catalog."""
    context = service.context
    questions: dict[str, Callable[[], object]] = {"broker": context.redis.ping, _NEEDED: context.catalog.keys.any}
    if service.settings.index in SERVERS:
        questions["index"] = partial(must_answer, context.index)
    stores: dict[str, State] = {}
    for store, answer in ask_all(questions, _SECONDS):
        if isinstance(answer, Exception) and not isinstance(answer, _AWAY):
            raise answer
        stores[store] = "away" if isinstance(answer, Exception) else "ok"
    away = [store for store, state in stores.items() if state == "away"]
    if _NEEDED in away:
        detail = f"{' and '.join(away)} cannot be reached"
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "5"}, stores=stores)
    return ReadyOut(status="degraded" if away else "ok", stores=stores)
