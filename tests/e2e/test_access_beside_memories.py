"""Nobody is told of documents, items, reviews or agents' notes what `policies.access` says that they may not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from memory.agents import replace_agent
from memory.context import MemoryContext, open_memory
from memory.documents.delete import delete_document
from memory.documents.indexing import make_searchable
from memory.documents.put import put_document
from memory.events import announce_all
from memory.items import write_items
from memory.members import membership_of, set_member
from memory.preferences import set_preference
from memory.publish import publish
from policies.access import may_see, may_write, role_in, seen_by
from schema import (
    Asker,
    Candidate,
    Capability,
    Document,
    Event,
    EventName,
    Kind,
    Labels,
    MemberRole,
    MemoryType,
    Preference,
    PreferenceName,
    Principal,
    Review,
    Seen,
    Status,
    Subject,
    Visibility,
)
from schema.errors import Denied
from schema.item import Put
from stores.catalog import Changes
from tests.contract.catalogs import NOW, a_memory
from tests.e2e.mcp_client import over_http
from tests.e2e.service import EVERYTHING, Served

ASKED: Final = "Which mill stood at the river?"
_SAID: Final = re.compile(r"mill number (\d+)")
_NAMED: Final = re.compile(r"mill.number.(\d+)")
"""With the ids of documents: those a refusal may repeat."""
_LAST: Final = "00000000-0000-0000-0000-000000000000"
DOCUMENTS: Final = range(5)
GONE, ITEM, NOTE, TOPIC, PAUSED, LEFT_ALONE = 8, 9, 10, 12, 14, 15
HIDDEN: Final = range(20, 22)
CANDIDATES: Final = range(30, 33)
RIGHTS: Final = (
    {Capability.TURNS},
    {Capability.READ},
    {Capability.READ, Capability.ACT_AS},
    {Capability.READ, Capability.WRITE},
    {Capability.READ, Capability.WRITE, Capability.ADMIN},
    set(Capability),
)


@pytest.fixture(scope="module")
def context(service: Served) -> Iterator[MemoryContext]:
    """The service's own stores."""
    opened = open_memory(service.settings)
    yield opened
    opened.close()


@dataclass(frozen=True)
class World:
    """What is kept of a subject beside memories, each thing with a number that no other world has, and its labels."""

    whose: Subject
    base: int
    agents: tuple[str, str]
    labels: dict[int, Labels]
    reviews: tuple[Review, ...]
    held: int
    """The document that waits for a person."""


@dataclass(frozen=True)
class Asking:
    """Somebody who asks about a world, and what `policies.access` says of them."""

    world: World
    principal: Principal
    seen: tuple[Seen, ...] | None
    """None where they may see nothing at all."""
    is_for_all_of_it: bool
    """Whether they may have to do with all that is known: reviews, export."""

    def numbers(self, *numbers: int) -> set[int]:
        return {self.world.base + number for number in numbers}

    def seen_of(self, *numbers: int) -> set[int]:
        """Those of the things that they see."""
        shown = {number for number in numbers if self.seen and may_see(self.seen, self.world.labels[number])}
        return self.numbers(*shown)

    def whole(self, *numbers: int) -> set[int]:
        """Those of the things that are all that is known: without what another keeps for themselves alone."""
        if not self.is_for_all_of_it:
            return set()
        own = self.world.whose.subject_id
        labels = {number: self.world.labels[number] for number in numbers}
        theirs = {n for n, one in labels.items() if one.visibility is Visibility.PERSONAL and one.author_id != own}
        return self.numbers(*(set(numbers) - theirs)) | self.seen_of(*numbers)

    @property
    def sees_what_is_shared(self) -> bool:
        shared = Labels(Visibility.PRIVATE, self.world.whose.subject_id)
        return self.seen is not None and may_see(self.seen, shared)

    def notes_of(self, place: int) -> set[int]:
        """What they read of the note of an agent, and of the topic that it waits for their own user to go on with."""
        agent, principal = self.world.agents[place], self.principal
        may_name = principal.agent_id is None and Capability.ACT_AS in principal.capabilities
        if Capability.READ not in principal.capabilities or not (principal.agent_id == agent or may_name):
            return set()
        is_own = principal.user_id == self.world.whose.subject_id
        return self.numbers(NOTE + place, *([TOPIC + place] if is_own else []))


def by_chance(chance: Random, whose: Subject, agents: tuple[str, str]) -> Labels:
    visibility = chance.choice(list(Visibility))
    author = chance.choice([whose.subject_id, "maya", "tom"])
    return Labels(visibility, author, chance.choice(agents) if visibility is Visibility.INDIVIDUAL else None)


def a_candidate(number: int) -> Candidate:
    return Candidate(
        turn_id=f"t{number}",
        ordinal=0,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        summary=f"Anna owns mill number {number}.",
        confidence=0.9,
        occurred_at=NOW,
        said_at=NOW,
    )


def a_world(chance: Random, whose: Subject, base: int, agents: tuple[str, str], context: MemoryContext) -> World:
    labels = {number: by_chance(chance, whose, agents) for number in (*HIDDEN, *CANDIDATES)}
    given = {
        number: Document(
            document_id=f"mill-number-{base + number}",
            **whose.model_dump(),
            title=f"About mill number {base + number}",
            content=f"The old mill number {base + number} stood at the river until the flood.",
            visibility=chance.choice([Visibility.PUBLIC, Visibility.PRIVATE, Visibility.PERSONAL]),
            author_id=chance.choice([None, "maya", "tom"]),
        )
        for number in (*DOCUMENTS, GONE)
    }
    for document in given.values():
        put_document(None, document, context, now=NOW)
        make_searchable(whose, document.document_id, context, lambda: NOW)
    kept = context.catalog.documents.heads(whose, [document.document_id for document in given.values()])
    delete_document(kept[given[GONE].document_id], context, by="test", reason="test", now=NOW)
    # A label that changed after the index was told of the old one.
    held = chance.choice(DOCUMENTS)
    given[held] = given[held].model_copy(update={"visibility": Visibility.PERSONAL, "author_id": "nobody"})
    put_document(None, given[held], context, now=NOW)
    labels |= {number: document.labels for number, document in given.items()}

    text = f"The mill number {base + ITEM} stood at the river."
    write_items(None, whose, [Put(("notes", text[:-1]), text, {"text": text}, texts=(text,))], context, now=NOW)

    service = Principal(tenant_id=whose.tenant_id, capabilities=frozenset(Capability), key_id="k")
    for number, agent in enumerate(agents):
        kept_before = context.catalog.agents.get(whose.tenant_id, agent).document
        note = {**kept_before, whose.subject_id: f"mill number {base + NOTE + number}"}
        topics = {whose: f"the mill number {base + TOPIC + number}"}
        replace_agent(service, agent, note, context, topics=topics, versions=None, now=NOW)

    for name, value in (
        (PreferenceName.PAUSED_CONVERSATION, f"mill number {base + PAUSED}"),
        (PreferenceName.UNMENTIONED_TOPIC, f"sluice of mill number {base + LEFT_ALONE}"),
    ):
        set_preference(whose, Preference(name=name, value=value), context, by="test", now=NOW)

    hidden = tuple(
        a_memory(f"{whose.subject_id}-{number}", whose).model_copy(
            update={
                "summary": f"Anna owns mill number {base + number}.",
                "facts": (),
                "status": Status.ARCHIVED,
                "visibility": labels[number].visibility,
                "author_id": labels[number].author_id,
                "agent_id": labels[number].agent_id,
            }
        )
        for number in HIDDEN
    )
    opened: dict[str, Any] = {"policy_version": "p", "opened_at": NOW}
    reviews = [
        Review.of(whose, a_candidate(base + number), Asker.AUTHORITY, reason="r", **opened, labels=labels[number])
        for number in CANDIDATES
    ]
    reviews.append(Review.of_forgetting(whose, tuple(memory.id for memory in hidden), "t", **opened))
    reviews.append(Review.of_document(kept[given[held].document_id], Asker.SCREENING, reason="r", **opened))
    publish(Changes(subject=whose, at=NOW, created=hidden, reviews=tuple(reviews)), {}, context)
    announce_all(whose, context)
    last = Event(name=EventName.DELETED, **whose.model_dump(), at=NOW, payload={"id": _LAST})
    publish(Changes(subject=whose, at=NOW, events=(last,)), {}, context)
    announce_all(whose, context)
    return World(whose, base, agents, labels, tuple(reviews), held)


def asking(world: World, principal: Principal, context: MemoryContext) -> Asking:
    membership = membership_of(principal, world.whose, context.catalog)
    role = role_in(principal, world.whose, membership)
    try:
        seen = seen_by(principal, role, world.whose)
    except Denied:
        return Asking(world, principal, None, is_for_all_of_it=False)
    shared = Labels(Visibility.PRIVATE, world.whose.subject_id)
    is_own = principal.user_id == world.whose.subject_id or Capability.ADMIN in principal.capabilities
    return Asking(world, principal, seen, is_own and may_write(principal, role, world.whose, shared))


# -- the faces --------------------------------------------------------------------------------------------------------


def over_rest(who: Asking, client: httpx.Client) -> dict[str, set[int]]:
    """The numbers that a key is told over HTTP, by the way that it was asked."""
    world = who.world
    about = {"subject_id": world.whose.subject_id}
    path = f"/api/v1/subjects/{world.whose.subject_id}"
    key = f"The mill number {world.base + ITEM} stood at the river."
    left_alone = f"How is the sluice of mill number {world.base + LEFT_ALONE}?"
    reads = {
        "get": {"op": "get", "namespace": ["notes", key[:-1]], "key": key},
        "search": {"op": "search", "query": ASKED},
        "search without a query": {"op": "search"},
        "namespaces": {"op": "list_namespaces"},
    }
    answers = {
        "documents": client.get("/api/v1/documents/", params={**about, "limit": 100}),
        "excerpts": client.get("/api/v1/documents/excerpts", params={**about, "query": ASKED, "limit": 50}),
        "context": client.get(f"{path}/context", params={"question": ASKED, "tokens": 5_000}),
        "export": client.get(f"{path}/export"),
        "reviews": client.get(f"{path}/reviews"),
        "preferences": client.get(f"{path}/preferences"),
        "check": client.post(f"{path}/topics/check", json={"text": left_alone}),
        **{f"store {way}": client.post(f"{path}/store/read", json={"ops": [read]}) for way, read in reads.items()},
        **{
            f"read {number}": client.get(f"/api/v1/documents/mill-number-{world.base + number}", params=about)
            for number in (*DOCUMENTS, GONE)
        },
        **{f"agent {place}": client.get(f"/api/v1/agents/{name}/metadata") for place, name in enumerate(world.agents)},
    }
    for way, answer in answers.items():
        assert answer.status_code in {200, 403, 404}, (way, answer.text)
    return {way: told(answer) for way, answer in answers.items()}


def told(answer: httpx.Response) -> set[int]:
    # What a document or a key is called comes back where it was asked for by it.
    spoken = _NAMED if answer.status_code == 200 else _SAID
    return {int(number) for number in spoken.findall(answer.text)}


def over_mcp(who: Asking, service: Served, key: str) -> set[int]:
    """The numbers that a client of the Model Context Protocol is told."""
    whose = who.world.whose.subject_id

    async def ask(client: Client) -> str:
        answers = []
        for asked in (
            client.get_prompt("context", {"question": ASKED}),
            client.get_prompt("what_is_known"),
            client.read_resource(f"memory://{whose}/profile"),
            client.call_tool("search_memory", {"query": ASKED, "limit": 50}),
        ):
            try:
                answers.append((await asked).model_dump_json())
            except MCPError as error:
                answers.append(str(error))
        return "\n".join(answers)

    return {int(number) for number in _NAMED.findall(over_http(service, key, ask, query=f"?subject_id={whose}"))}


def over_events(who: Asking, client: httpx.Client) -> set[int]:
    """The numbers that a listener hears, up to the last event, which is for everybody who may listen."""
    heard: set[int] = set()
    params = {"subject_id": who.world.whose.subject_id}
    with client.stream("GET", "/api/v1/events", params=params, headers={"Last-Event-ID": "0"}) as answer:
        if answer.status_code == 403:
            return heard
        for line in answer.iter_lines():
            heard |= {int(number) for number in _NAMED.findall(line)}
            if _LAST in line:
                break
    return heard


def change_what_is_not_theirs(who: Asking, client: httpx.Client) -> None:
    """Everything that they do not see is refused, as what does not exist is, and says nothing."""
    world, about = who.world, {"subject_id": who.world.whose.subject_id}
    path = f"/api/v1/subjects/{world.whose.subject_id}"
    refused = []
    for number in DOCUMENTS:
        if not who.seen_of(number):
            document = f"/api/v1/documents/mill-number-{world.base + number}"
            refused += [client.put(document, json={"content": "Mine.", **about}), client.delete(document, params=about)]
    if not who.sees_what_is_shared:
        put = {"namespace": ["notes"], "key": "k", "value": {}}
        refused.append(client.post(f"{path}/store/write", json={"puts": [put]}))
    for number, review in zip(CANDIDATES, world.reviews, strict=False):
        if not who.whole(number):
            refused += [client.post(f"{path}/reviews/{review.id}/{decision}") for decision in ("approve", "reject")]
    for place, agent in enumerate(world.agents):
        if not who.notes_of(place):
            refused.append(client.put(f"/api/v1/agents/{agent}/metadata", json={}))
    for answer in refused:
        assert answer.status_code in {403, 404}, (answer.request.url, answer.text)
        assert not told(answer), (answer.request.url, answer.text)


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 8))])
def test_nobody_is_told_of_anything_beside_memories_what_they_may_not_see(
    service: Served, context: MemoryContext, user: str, seed: int
) -> None:
    chance = Random(seed)
    agents = (f"coach-{user}", f"banker-{user}")
    whose, namesake, other = (
        Subject(tenant_id=tenant, subject_id=name)
        for tenant, name in (("acme", user), ("globex", user), ("acme", f"{user}-other"))
    )
    world = a_world(chance, whose, 1_000, agents, context)
    theirs = a_world(chance, namesake, 2_000, agents, context)
    a_world(chance, other, 3_000, (f"coach-{user}-other", f"banker-{user}-other"), context)
    membership = chance.choice([None, *MemberRole])
    asker = chance.choice([None, "maya", "tom", user])
    if membership is not None and asker is not None:
        set_member(whose, asker, membership, context.catalog, by="dora", now=NOW, policy_version="p")

    def of(tenant: str, user_id: str | None, agent: str | None, can: set[Capability]) -> Principal:
        return Principal(tenant_id=tenant, user_id=user_id, agent_id=agent, capabilities=frozenset(can), key_id="k")

    everything = set(EVERYTHING)
    asks = [
        (world, of("acme", asker, chance.choice([None, *agents]), chance.choice(RIGHTS))),
        (world, of("acme", user, None, everything)),
        (world, of("acme", other.subject_id, None, everything - {Capability.ACT_AS})),
        (theirs, of("globex", None, None, everything)),
    ]
    for asked, principal in asks:
        who = asking(asked, principal, context)
        key = service.key(
            *principal.capabilities, tenant=principal.tenant_id, user=principal.user_id, agent=principal.agent_id
        )
        with service.client(key) as client:
            change_what_is_not_theirs(who, client)
            by_way = over_rest(who, client)
            heard = over_events(who, client)
        spoken = over_mcp(who, service, key)
        documents = who.seen_of(*DOCUMENTS)
        items = who.numbers(ITEM) if who.sees_what_is_shared else set()
        assert by_way["documents"] == by_way["excerpts"] == documents
        for number in (*DOCUMENTS, GONE):
            assert by_way[f"read {number}"] == who.seen_of(*{number} - {GONE}), number
        assert by_way["context"] <= documents
        assert spoken <= documents
        for way in ("get", "search", "search without a query", "namespaces"):
            assert by_way[f"store {way}"] == items, way
        wanted = who.numbers(PAUSED, LEFT_ALONE) if who.sees_what_is_shared else set()
        assert by_way["preferences"] == wanted
        assert by_way["check"] == wanted - who.numbers(PAUSED)
        hidden = who.whole(*HIDDEN)
        # A wish may have meant all of them: who decides on that sees each.
        asked_about = hidden if hidden == who.numbers(*HIDDEN) else set()
        assert by_way["reviews"] == asked_about | who.whole(*CANDIDATES, asked.held)
        assert by_way["export"] == (hidden | documents | items if who.is_for_all_of_it else set())
        assert [by_way["agent 0"], by_way["agent 1"]] == [who.notes_of(0), who.notes_of(1)]
        assert heard == who.seen_of(*DOCUMENTS, GONE)
