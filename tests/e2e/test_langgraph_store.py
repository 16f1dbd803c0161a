"""The LangGraph store against the real service, with LangGraph's own store in memory as the oracle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
)
from langgraph.store.memory import InMemoryStore

from afterturn_client import AsyncClient, Client, Forbidden, Invalid
from afterturn_client.langgraph import AfterturnStore
from schema import Capability
from tests.e2e.service import Served

_people = count()


@pytest.fixture(scope="module")
def client(service: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(service.url, service.key(), spool_dir=tmp_path_factory.mktemp("spool")) as client:
        yield client


@pytest.fixture
def store(client: Client, user: str) -> AfterturnStore:
    return AfterturnStore(client, user_id=user)


# -- the oracle -------------------------------------------------------------------------------------------------------

LABELS = st.sampled_from(["t", "acme", "acme-corp", "ac", "%", "ünï"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
PREFIXES = st.lists(LABELS, max_size=3).map(tuple)
PATHS = st.lists(st.one_of(LABELS, st.just("*")), min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["a", "b", "A", "", "a.b", "ключ"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, -1e300]),
    st.text(st.characters(exclude_characters="\0"), max_size=3),
)
PLAIN = SCALARS.map(lambda value: value if not isinstance(value, str) else value.encode("utf-8", "ignore").decode())
VALUES = st.dictionaries(
    st.sampled_from(["n", "kind", "deep"]),
    st.one_of(PLAIN, st.lists(PLAIN, max_size=2), st.dictionaries(st.sampled_from(["n", "x"]), PLAIN, max_size=2)),
    max_size=3,
)
NUMBERED = st.integers(-3, 3).map(lambda number: {"n": number})
COMPARED = st.dictionaries(
    st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), st.integers(-3, 3), min_size=1, max_size=2
)


def plain(found: Any) -> list[Any]:
    return sorted(([item.namespace, item.key, item.value] for item in found), key=str)


class Beside(RuleBasedStateMachine):
    """Does the same with both stores, and looks for a difference."""

    client: Client

    @initialize()
    def begin(self) -> None:
        self.ours = AfterturnStore(self.client, user_id=f"oracle{next(_people)}", fields=())
        self.oracle = InMemoryStore()

    @rule(namespace=NAMESPACES, key=KEYS, value=VALUES)
    def put(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> None:
        for store in (self.ours, self.oracle):
            store.put(namespace, key, value)

    @rule(namespace=NAMESPACES, key=KEYS)
    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        for store in (self.ours, self.oracle):
            store.delete(namespace, key)

    @rule(namespace=NAMESPACES, key=KEYS)
    def get(self, namespace: tuple[str, ...], key: str) -> None:
        ours, theirs = self.ours.get(namespace, key), self.oracle.get(namespace, key)
        assert (ours and ours.value) == (theirs and theirs.value)

    @rule(prefix=PREFIXES, wanted=VALUES)
    def search_what_is_contained(self, prefix: tuple[str, ...], wanted: dict[str, Any]) -> None:
        assert plain(self.ours.search(prefix, filter=wanted, limit=1000)) == plain(
            self.oracle.search(prefix, filter=wanted, limit=1000)
        )

    @rule(numbers=st.lists(NUMBERED, min_size=1, max_size=5), wanted=COMPARED)
    def search_what_compares(self, numbers: list[dict[str, Any]], wanted: dict[str, int]) -> None:
        for store in (self.ours, self.oracle):
            store.batch([PutOp(("numbers",), f"{key}", value) for key, value in enumerate(numbers)])
        assert plain(self.ours.search(("numbers",), filter={"n": wanted}, limit=1000)) == plain(
            self.oracle.search(("numbers",), filter={"n": wanted}, limit=1000)
        )

    @rule(prefix=PREFIXES, limit=st.integers(1, 4))
    def pages_are_the_whole(self, prefix: tuple[str, ...], limit: int) -> None:
        whole = plain(self.oracle.search(prefix, limit=1000))
        pages = [self.ours.search(prefix, limit=limit, offset=start) for start in range(0, len(whole) + 1, limit)]
        assert plain(item for page in pages for item in page) == whole

    @rule(
        conditions=st.lists(st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATHS), max_size=2),
        depth=st.one_of(st.none(), st.integers(1, 3)),
        limit=st.integers(1, 5),
        offset=st.integers(0, 2),
    )
    def namespaces(self, conditions: list[MatchCondition], depth: int | None, limit: int, offset: int) -> None:
        # The one in memory goes on listing namespaces in which nothing is any more, so it is asked through another.
        there = InMemoryStore()
        for item in self.oracle.search((), limit=1000):
            there.put(item.namespace, item.key, item.value)
        asked = ListNamespacesOp(tuple(conditions), depth, limit, offset)
        assert self.ours.batch([asked]) == there.batch([asked])

    @rule(
        ops=st.lists(
            st.one_of(
                st.tuples(NAMESPACES, KEYS, st.one_of(st.none(), VALUES)).map(lambda said: PutOp(*said)),
                st.tuples(NAMESPACES, KEYS).map(lambda said: GetOp(*said)),
            ),
            min_size=1,
            max_size=6,
        )
    )
    def batch(self, ops: list[Op]) -> None:
        ours, theirs = self.ours.batch(ops), self.oracle.batch(ops)
        assert [one and one.value for one in ours] == [one and one.value for one in theirs]  # type: ignore[union-attr]

    @invariant()
    def both_hold_the_same(self) -> None:
        assert plain(self.ours.search((), limit=1000)) == plain(self.oracle.search((), limit=1000))


def test_it_does_what_langgraphs_own_store_does(client: Client) -> None:
    machine = type("Machine", (Beside,), {"client": client})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12,
            stateful_step_count=10,
            deadline=None,
            # To make a failure small takes minutes with a real service.
            phases=[Phase.explicit, Phase.reuse, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


# -- what the oracle does not have ------------------------------------------------------------------------------------


def test_one_store_serves_all_users_and_none_meets_another(client: Client) -> None:
    store = AfterturnStore(client)
    for user in ("acme", "acme-corp"):
        store.put((user, "notes"), "n", {"of": user})
    assert [item.value for item in store.search(("acme",))] == [{"of": "acme"}]
    assert store.list_namespaces(prefix=("acme-corp",)) == [("acme-corp", "notes")]
    for ask in (lambda: store.search(()), store.list_namespaces, lambda: store.list_namespaces(prefix=("*",))):
        with pytest.raises(InvalidNamespaceError, match="user_id"):
            ask()


def test_a_key_of_one_user_reaches_nobody_else(service: Served, client: Client, tmp_path: Path) -> None:
    AfterturnStore(client).put(("mia", "notes"), "n", {"secret": 1})
    mine = service.key(Capability.READ, Capability.WRITE, user="noa")
    with Client(service.url, mine, spool_dir=tmp_path) as noa, pytest.raises(Forbidden):
        AfterturnStore(noa).get(("mia", "notes"), "n")


def test_a_query_finds_by_meaning_what_is_to_be_found(store: AfterturnStore) -> None:
    store.put(("n",), "food", {"text": "Maya eats no meat", "mood": "plays the violin"}, index=["text"])
    store.put(("n",), "music", {"text": "She plays the violin"})
    store.put(("n",), "hidden", {"text": "She plays the cello"}, index=False)
    hits = store.search(("n",), query="Which instrument does she play?")
    assert [hit.key for hit in hits] == ["music", "food", "hidden"]
    assert hits[0].score is not None
    assert hits[0].score > 0.4 > (hits[1].score or 0)
    assert hits[2].score is None


def test_an_item_keeps_when_it_was_made_and_says_when_it_was_changed(store: AfterturnStore) -> None:
    store.put(("n",), "k", {"v": 1})
    first = store.get(("n",), "k")
    store.put(("n",), "k", {"v": 2}, ttl=60)
    second = store.get(("n",), "k")
    assert first is not None
    assert second is not None
    assert (second.created_at, second.value) == (first.created_at, {"v": 2})
    assert second.updated_at > first.updated_at


@pytest.mark.parametrize("value", [{"x": float("nan")}, {"x": object()}])
def test_what_is_no_json_is_refused_before_it_is_sent(store: AfterturnStore, value: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="JSON"):
        store.put(("n",), "k", value)


def test_long_values_are_kept_many_at_a_time_and_found_by_a_long_query(store: AfterturnStore) -> None:
    """A request to the service has room for a part of them, a text and a query for fewer characters."""
    said = "She plays the violin. " + "Then she rests. " * 2_500
    store.batch([PutOp(("docs",), f"d{number}", {"said": said}) for number in range(60)])
    found = store.search(("docs",), query="Who plays the violin? " * 400, limit=100)
    assert sorted(item.key for item in found) == sorted(f"d{number}" for number in range(60))
    assert all(item.value == {"said": said} and item.score is not None for item in found)


def test_a_filter_with_an_unknown_operator_is_refused(store: AfterturnStore) -> None:
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("n",), filter={"n": {"$near": 1}})


def test_what_is_kept_without_consent_is_refused(client: Client, store: AfterturnStore, user: str) -> None:
    client.want(user, consent="withdrawn")
    with pytest.raises(Invalid, match="consent"):
        store.put(("n",), "k", {"v": 1})


def test_an_awaited_client_serves_an_awaited_store(service: Served, client: Client, user: str, tmp_path: Path) -> None:
    async def use(with_client: Client | AsyncClient) -> tuple[Any, Any]:
        store = AfterturnStore(with_client, user_id=user)
        await store.aput(("n",), "k", {"v": 1})
        item = await store.aget(("n",), "k")
        return item and item.value, await store.alist_namespaces()

    async def with_awaited() -> tuple[Any, Any]:
        async with AsyncClient(service.url, service.key(), spool_dir=tmp_path) as awaited:
            with pytest.raises(TypeError, match="give it a Client"):
                AfterturnStore(awaited, user_id=user).get(("n",), "k")
            return await use(awaited)

    assert asyncio.run(use(client)) == asyncio.run(with_awaited()) == ({"v": 1}, [("n",)])
