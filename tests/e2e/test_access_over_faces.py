"""Nobody is told over HTTP, MCP or a stream of events what `policies.access` says that they may not see."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from memory.context import MemoryContext, open_memory
from memory.events import announce
from memory.members import set_member
from memory.publish import publish
from policies.access import may_see, role_in, seen_by
from schema import Capability, Event, EventName, MemberRole, Memory, Principal, Seen, Subject, Visibility
from schema.errors import Denied
from stores.catalog import Changes
from tests.contract.catalogs import NOW, a_memory, a_world
from tests.e2e.mcp_client import over_http
from tests.e2e.service import Served

COUNT: Final = 12
ASKED: Final = "Which cello does Anna play?"
_NUMBER: Final = re.compile(r"cello number (\d+)")
_GONE: Final = uuid.UUID(int=0)
"""A memory that nobody has any more."""


@pytest.fixture(scope="module")
def context(service: Served) -> Iterator[MemoryContext]:
    """The service's own stores."""
    opened = open_memory(service.settings)
    yield opened
    opened.close()


@dataclass(frozen=True)
class World:
    """What is known of a subject, by number, and somebody who asks for it."""

    whose: Subject
    memories: dict[int, Memory]
    principal: Principal
    seen: tuple[Seen, ...] | None
    """None where they may see nothing at all."""

    @property
    def visible(self) -> set[int]:
        if self.seen is None:
            return set()
        return {number for number, memory in self.memories.items() if may_see(self.seen, memory.labels)}

    def numbers_of(self, told: str) -> set[int]:
        """The memories that were told of, by what they say or by their ids."""
        said = {int(number) for number in _NUMBER.findall(told)}
        return said | {number for number, memory in self.memories.items() if str(memory.id) in told}


def a_world_of(seed: int, user: str, context: MemoryContext) -> World:
    """Return a world by chance; a user of the same name in another tenant knows of cellos of other numbers."""
    chance = Random(seed)
    whose = Subject(tenant_id="acme", subject_id=user)
    world = a_world(chance, whose, COUNT)
    publish(Changes(subject=whose, at=NOW, created=tuple(world)), {}, context)
    namesake = Subject(tenant_id="globex", subject_id=user)
    other = a_memory("other", namesake).model_copy(
        update={"summary": f"Anna plays cello number {COUNT} in the orchestra."}
    )
    publish(Changes(subject=namesake, at=NOW, created=(other,)), {}, context)
    membership = chance.choice([None, *MemberRole])
    asker = chance.choice([None, "maya", "tom", user])
    if membership is not None and asker is not None:
        set_member(whose, asker, membership, context.catalog, by="dora", now=NOW, policy_version="p")
    # A label that changed after the index was told of the old one, and the events were announced.
    told = [(number, Event.about(memory, EventName.CREATED, NOW)) for number, memory in enumerate(world, seed * 1_000)]
    gone = Event(name=EventName.DELETED, **whose.model_dump(), at=NOW, payload={"id": str(_GONE)})
    announce([*told, (seed * 1_000 + COUNT, gone)], context)
    place = chance.randrange(COUNT)
    hidden = {"visibility": Visibility.INDIVIDUAL, "agent_id": "nobody", "version": 2}
    world[place] = world[place].model_copy(update=hidden)
    context.catalog.commit(Changes(subject=whose, at=NOW, updated=(world[place],)))
    principal = Principal(
        tenant_id="acme",
        user_id=asker,
        agent_id=chance.choice([None, "coach"]),
        capabilities=frozenset({Capability.READ}),
        key_id="k",
    )
    try:
        seen = seen_by(principal, role_in(principal, whose, membership), whose)
    except Denied:
        seen = None
    return World(whose, dict(enumerate(world)), principal, seen)


# -- the faces --------------------------------------------------------------------------------------------------------


def over_rest(world: World, client: httpx.Client) -> dict[str, str]:
    """All that a key is answered over HTTP, by the way that it was asked."""
    about = {"subject_id": world.whose.subject_id}
    path = f"/api/v1/subjects/{world.whose.subject_id}"
    user = {"type": "user_id", "value": world.whose.subject_id}
    ids = [memory.id for memory in world.memories.values()]
    get: Callable[..., httpx.Response] = client.get
    answers = {
        "search": get("/api/v1/memories/search", params={"query": ASKED, "limit": 50, **about}),
        "search without a question": get("/api/v1/memories/search", params={"limit": 50, **about}),
        "list": get("/api/v1/memories/", params=about),
        "list what is archived too": get("/api/v1/memories/", params={"status": ["active", "archived"], **about}),
        "context": get(f"{path}/context", params={"question": ASKED, "tokens": 5_000}),
        "retrieval": client.post(f"{path}/retrieval", json={"messages": [{"role": "user", "content": ASKED}]}),
        "look-up": get("/api/v1/graph/entities/lookup", params=user),
        "look-up by a question": get(
            "/api/v1/graph/entities/lookup", params={**user, "rag_query": ASKED, "rag_mode": "hybrid"}
        ),
        "look-up with debug": get(
            "/api/v1/graph/entities/lookup", params={**user, "rag_query": ASKED, "rag_debug": True}
        ),
        "summary": get("/api/v1/graph/entities/lookup/summary", params=user),
        "export": get(f"{path}/export"),
        **{f"get {number}": get(f"/api/v1/memories/{id_}", params=about) for number, id_ in enumerate(ids)},
        **{f"origin {number}": get(f"/api/v1/memories/{id_}/origin", params=about) for number, id_ in enumerate(ids)},
    }
    for way, answer in answers.items():
        assert answer.status_code in {200, 403, 404}, (way, answer.text)
    # A refusal may repeat the id that was asked for.
    return {way: answer.text if answer.status_code == 200 else "" for way, answer in answers.items()}


def over_mcp(world: World, service: Served, key: str) -> dict[str, str]:
    """All that a client of the Model Context Protocol is told."""

    async def ask(client: Client) -> dict[str, str]:
        told: dict[str, str] = {}

        async def tool(name: str, **arguments: Any) -> str:
            result = await client.call_tool(name, arguments)
            assert isinstance(result, CallToolResult)
            return "" if result.is_error else result.model_dump_json()

        told["search_memory"] = await tool("search_memory", query=ASKED, limit=50)
        for number, memory in world.memories.items():
            told[f"get_memory {number}"] = await tool("get_memory", memory_id=str(memory.id))
        for way, asking in {
            "profile": client.read_resource(f"memory://{world.whose.subject_id}/profile"),
            "context": client.get_prompt("context", {"question": ASKED}),
            "what_is_known": client.get_prompt("what_is_known"),
        }.items():
            try:
                told[way] = (await asking).model_dump_json()
            except MCPError:
                told[way] = ""
        return told

    subject = f"?subject_id={world.whose.subject_id}"
    told: dict[str, str] = over_http(service, key, ask, query=subject)
    return told


def over_events(world: World, client: httpx.Client) -> str:
    """All that a listener hears, up to the last event, which is for everybody who may listen."""
    heard: list[str] = []
    params = {"subject_id": world.whose.subject_id}
    with client.stream("GET", "/api/v1/events", params=params, headers={"Last-Event-ID": "0"}) as answer:
        if answer.status_code == 403:
            return ""
        for line in answer.iter_lines():
            heard.append(line)
            if str(_GONE) in line:
                break
    return "\n".join(heard)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 12))])
def test_nobody_is_told_over_any_face_what_they_may_not_see(
    service: Served, context: MemoryContext, user: str, seed: int
) -> None:
    world = a_world_of(seed, user, context)
    principal, visible = world.principal, world.visible
    key = service.key(*principal.capabilities, user=principal.user_id, agent=principal.agent_id)
    with service.client(key) as client:
        rest = over_rest(world, client)
        events = over_events(world, client)
    told = {**rest, **over_mcp(world, service, key)}
    for way, text in told.items():
        assert world.numbers_of(text) <= visible, way
    for way in ("search", "search without a question", "list", "search_memory"):
        assert world.numbers_of(told[way]) == visible, way
    got = {number for number in world.memories if told[f"get {number}"]}
    assert got == {number for number in world.memories if told[f"get_memory {number}"]} == visible
    # Who sees a subject is told that something of theirs was made; of whom nothing is seen, nothing is heard.
    assert world.numbers_of(events) == visible
    shown = json.dumps([*told.values(), events])
    assert f"cello number {COUNT} " not in shown
