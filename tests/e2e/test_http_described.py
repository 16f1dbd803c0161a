"""The service does what its OpenAPI document says, whatever it is sent: every route, good requests and bad ones."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from http import HTTPStatus
from itertools import cycle
from typing import Any, Final

import httpx
import pytest
import requests
import schemathesis
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.core.result import Ok
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.specs.openapi.checks import allow_header_conformance, positive_data_acceptance, unsupported_method

from schema import Subject
from stores.catalog import Changes
from tests.contract.catalogs import a_memory as a_known_memory
from tests.e2e.service import Served, openapi_document, served, settings_in

USER: Final = "anna"
MEANING: Final = {
    "POST /api/v1/turns",  # when it was said
    "GET /api/v1/documents/",  # a cursor is one that a list gave
    "GET /api/v1/memories/",  # a cursor is one that a list gave
    "POST /api/v1/memories/",  # what may not be kept
    "DELETE /api/v1/memories/{memory_id}",  # a version is one that it has had
    "POST /api/v1/memories/{memory_id}/{verb}",
    "DELETE /api/v1/documents/{document_id}",
    "PATCH /api/v1/memories/{memory_id}",  # a version is one that it has had; what may not be kept
    "PUT /api/v1/agents/{agent_id}/metadata",  # a version is one that it has had
    "PUT /api/v1/documents/{document_id}",  # pages begin at 0 and follow each other
    "PATCH /api/v1/subjects/{subject_id}/preferences",  # a time zone is one that there is
    "PUT /api/v1/subjects/{subject_id}/topics/{topic}",  # a topic has more than blanks
    "DELETE /api/v1/subjects/{subject_id}/topics/{topic}",
    "PUT /api/v1/subjects/{subject_id}/paused-conversations/{conversation_id}",  # an ETag is one that it has had
    "DELETE /api/v1/subjects/{subject_id}/paused-conversations/{conversation_id}",
    "POST /api/v1/subjects/{subject_id}/store/write",  # what is to be replaced is there as it was read
    "GET /api/v1/subjects/{subject_id}/reviews",  # a cursor is one that a list gave
    "GET /api/v1/webhooks",
    "GET /api/v1/webhooks/{webhook_id}/deliveries",
    "GET /api/v1/graph/entities/lookup",
    "GET /api/v1/legal-holds",
    "GET /api/v1/costs",
    "POST /api/v1/legal-holds",  # something is named
    "POST /api/v1/legal-holds/lift",
    "POST /api/v1/webhooks",  # a URL is one that can be told
}
"""Where a request may be refused that is well formed, for what its fields mean."""
SHARED: Final = {
    "GET /api/v1/memories/search",  # or a memory's id
    "GET /api/v1/memories/{memory_id}/origin",  # or a verb
    "POST /api/v1/subjects/{subject_id}/topics/check",  # or a topic
}
"""Paths that others match too, so that they may be asked what those may."""
SOME: Final = (8, 20)
MANY: Final = (20, 5)
"""Of the requests to one route, up to 270, so many are sent, and of those behind them each so-many-th."""
TAKES_THE_KEY: Final = "DELETE /api/v1/subjects/{subject_id}"

EVENTS: Final = "GET /api/v1/events"
OF_THE_TENANT: Final = ("/api/v1/webhooks", "/api/v1/legal-holds", "/api/v1/staff-link", "/api/v1/costs")
"""How the paths begin that want a key of the whole tenant."""

_project = ProjectConfig(
    generation=GenerationConfig(max_examples=5, deterministic=True),
    # Of the key's own user: what is another's is refused, and nothing would be seen of the rest.
    parameters={"path.subject_id": USER, "query.subject_id": USER, "query.user_id": USER},
    request_timeout=20,
    # The stream of events never ends: whoever listens leaves with the first.
    max_stream_events=1,
)
_config = SchemathesisConfig(seed=15, projects=ProjectsConfig(default=_project))
LABELS: Final = [
    f"{method.upper()} {path}" for path, methods in openapi_document()["paths"].items() for method in methods
]


@pytest.fixture(
    scope="module", params=[pytest.param(SOME, id="some"), pytest.param(MANY, id="many", marks=pytest.mark.long)]
)
def sent(request: pytest.FixtureRequest) -> tuple[int, int]:
    """How many requests are sent to each route."""
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture(scope="module")
def service(sent: tuple[int, int], broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service where nothing is of other requests: an item may be new only once."""
    settings = settings_in(tmp_path_factory.mktemp("service"), broker_url)
    with served(settings.model_copy(update={"enqueue_budget_ms": 10_000.0})) as running:
        yield running


@pytest.fixture(scope="module")
def keys(service: Served) -> dict[str, str]:
    """A key for each route."""
    return {}


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session


def a_memory(url: str, headers: dict[str, str]) -> str:
    """The id of a memory of the user."""
    made = httpx.post(
        f"{url}/api/v1/memories/", json={"content": "Anna plays the violin."}, headers=headers, timeout=30.0
    )
    return str(made.json()["memory"]["memory_id"]) if made.is_success else str(uuid.uuid4())


def a_webhook(url: str, headers: dict[str, str]) -> str:
    """The id of a webhook of the tenant."""
    made = httpx.post(f"{url}/api/v1/webhooks", json={"url": "https://example.com/hook"}, headers=headers, timeout=30.0)
    return str(made.json()["id"])


THERE: Final = {"memory_id": a_memory, "webhook_id": a_webhook}
"""What is made, for requests that should find something, by the part of the path that names it."""


@contextmanager
def something_happens(service: Served) -> Iterator[None]:
    """Let the user's memory change all the time, so that who listens always hears of something soon."""
    memory = a_known_memory("t1", Subject(tenant_id="acme", subject_id=USER))
    service.catalog.commit(Changes(subject=memory.subject, at=memory.created_at, created=(memory,)))
    over = threading.Event()

    def change() -> None:
        with service.client(service.key(user=USER)) as client:
            for verb in cycle(["pin", "unpin"]):
                if over.wait(0.02):
                    return
                client.post(f"/api/v1/memories/{memory.id}/{verb}").raise_for_status()

    changing = threading.Thread(target=change)
    changing.start()
    try:
        yield
    finally:
        over.set()
        changing.join()


@pytest.fixture(scope="module")
def operations() -> Mapping[str, schemathesis.APIOperation[Any, Any, Any, Any]]:
    """What the description says of each route."""
    described = schemathesis.openapi.from_dict(openapi_document(), config=_config)
    found = [one.ok() for one in described.get_all_operations() if isinstance(one, Ok)]
    return {operation.label: operation for operation in found}


@pytest.mark.parametrize("label", LABELS)
def test_a_route_answers_as_its_description_says(
    label: str,
    sent: tuple[int, int],
    operations: Mapping[str, schemathesis.APIOperation[Any, Any, Any, Any]],
    service: Served,
    keys: dict[str, str],
    session: requests.Session,
) -> None:
    all_up_to, each = sent
    asked = 0

    def is_as_described(case: schemathesis.Case[Any]) -> None:
        nonlocal asked
        asked += 1
        if asked > all_up_to and asked % each:
            return
        if label not in keys or label == TAKES_THE_KEY:
            keys[label] = service.key(user=None if case.path.startswith(OF_THE_TENANT) else USER)
        headers = {"X-API-Key": keys[label]}
        if case.meta is not None and case.meta.generation.mode.is_positive:
            for name in THERE.keys() & case.path_parameters.keys():
                case.path_parameters[name] = THERE[name](service.url, headers)
        excluded: list[CheckFunction] = [positive_data_acceptance] if label in MEANING else []
        if label in SHARED:
            excluded += [allow_header_conformance, unsupported_method]
        answer = case.call(base_url=service.url, session=session, headers=headers)
        if label == "GET /readyz" and answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            # On a busy machine a store may not answer in time, and this says so.
            excluded.append(not_a_server_error)
        sent_again = {"base_url": service.url, "session": session, "headers": headers}
        case.validate_response(answer, headers=headers, excluded_checks=excluded, transport_kwargs=sent_again)

    # Schemathesis writes the requests when pytest lists the tests, which takes four seconds of every process of a run;
    # this is what it calls for each route, called by the one that asks it.
    operation = operations[label]
    with something_happens(service) if label == EVENTS else nullcontext():
        build_operation_test(
            config=operation.schema.config,
            operation=operation,
            test_func=is_as_described,
            given_kwargs={},
            feedback=FeedbackSources(constants_value_source=make_constants_value_source(operation.schema)),
        )()
    assert asked
