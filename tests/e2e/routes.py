"""Routes of the service, made once a process of tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import routing
from fastapi.routing import APIRoute


def share_routes() -> None:
    """Let all apps of this process have the same routes.

    FastAPI makes those of an included router anew for each app, at its first request: most of a second of the
    processor, more than many a file of tests takes. They differ only by the app whose `dependency_overrides` count, and
    no test has any.
    """
    make = routing._EffectiveRouteContext.from_api_route
    made: dict[int, list[tuple[Any, Any]]] = {}

    def shared(*, original_route: APIRoute, include_context: Any) -> Any:
        included = replace(include_context, dependency_overrides_provider=None)
        # A route is equal to others of its path, and so has no hash; what was made of it keeps it, and thereby its id.
        known = made.setdefault(id(original_route), [])
        for under, route in known:
            if under == included:
                return route
        route = make(original_route=original_route, include_context=included)
        known.append((included, route))
        return route

    routing._EffectiveRouteContext.from_api_route = shared  # type: ignore[method-assign]
