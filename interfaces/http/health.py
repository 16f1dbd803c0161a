"""Liveness and readiness of the service."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response
from redis import RedisError

from interfaces.http.problems import problem
from interfaces.http.service import Opened
from schema.errors import AfterturnError

router = APIRouter(tags=["health"])


# What watches a service from outside mostly asks with HEAD.
@router.head("/livez", include_in_schema=False)
@router.get("/livez", summary="Whether the process answers; asks no store")
def livez() -> dict[str, Any]:
    """Answer at once: a store that is away is no reason to start the process again."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False, response_model=None)
@router.get("/readyz", summary="Whether the stores answer", response_model=None)
def readyz(service: Opened) -> dict[str, Any] | Response:
    """Ask the broker and the catalog, which every route needs."""
    away = []
    try:
        service.context.redis.ping()
    except (RedisError, AfterturnError):
        away.append("broker")
    try:
        service.context.catalog.keys.any()
    except AfterturnError:
        away.append("catalog")
    if away:
        detail = f"{' and '.join(away)} cannot be reached"
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "5"})
    return {"status": "ok"}
