"""Entities over HTTP: what the parameters of a look-up do, and who may look."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from memory.context import open_memory
from memory.publish import publish
from schema import Capability, Fact, Subject
from stores.catalog import Changes
from tests.contract.catalogs import a_memory
from tests.e2e.service import Served

LOOKUP = "/api/v1/graph/entities/lookup"


@pytest.fixture
def known(service: Served, user: str) -> str:
    """A user of whom a worker has kept two facts."""
    whose = Subject(tenant_id="acme", subject_id=user)
    stated = {
        "Anna lives in Lisbon.": Fact(entity="User", verb="lives in", object="Lisbon", attribute="home_city"),
        "Anna plays the violin.": Fact(entity="User", verb="plays", object="violin", attribute="hobby"),
    }
    memories = tuple(
        a_memory(f"{user}-{number}", whose).model_copy(update={"summary": summary, "facts": (fact,)})
        for number, (summary, fact) in enumerate(stated.items())
    )
    with closing(open_memory(service.settings)) as context:
        publish(Changes(subject=whose, at=datetime.now(UTC), created=memories), {}, context)
    return user


def looked_up(client: httpx.Client, user: str, path: str = LOOKUP, **more: Any) -> dict[str, Any]:
    answer = client.get(path, params={"type": "user_id", "value": user, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_an_entity_is_told_with_all_its_facts_or_those_that_are_asked_for(me: httpx.Client, known: str) -> None:
    everything = looked_up(me, known)
    lisbon = looked_up(me, known, rag_query="Which city does Anna live in?", rag_top_k=1)
    assert everything["rag_debug"] is None
    assert [fact["name"] for fact in lisbon["facts"]] == ["Lisbon"]
    [key] = [fact["relationship_key"] for fact in lisbon["facts"]]
    assert key in {fact["relationship_key"] for fact in everything["facts"]}
    assert key == f"{lisbon['entity']['entity_id']}:{lisbon['facts'][0]['verb']}:Location:Lisbon"


def test_all_facts_come_page_by_page_and_those_that_are_asked_for_at_once(me: httpx.Client, known: str) -> None:
    first = looked_up(me, known, limit=1)
    second = looked_up(me, known, limit=1, cursor=first["cursor"])
    assert second["cursor"] is None
    assert first["facts"] + second["facts"] == looked_up(me, known)["facts"]
    asked = looked_up(me, known, rag_query="Which city does Anna live in?", limit=1)
    assert (len(asked["facts"]), asked["cursor"]) == (1, None)
    both = {"type": "user_id", "value": known, "rag_query": "Which city?", "cursor": first["cursor"]}
    assert me.get(LOOKUP, params=both).status_code == 422


def test_how_facts_were_selected_is_told_by_ids_alone(me: httpx.Client, known: str) -> None:
    found = looked_up(me, known, rag_query="Which city does Anna live in?", rag_debug=True)
    debug = found["rag_debug"]
    assert {hit["anchor_id"] for hit in debug["vector_hits"]} >= set(debug["verified_anchors"]) != set()
    assert set(debug["timings_ms"]) == {"vector_search", "graph_verify", "graph_fetch"}
    assert "Lisbon" not in str(debug)


@pytest.mark.parametrize("mode", ["semantic", "episodic", "hybrid"])
def test_what_is_let_in_by_its_similarity_tells_it(me: httpx.Client, known: str, mode: str) -> None:
    def hits(**more: Any) -> list[dict[str, Any]]:
        asked = {"rag_query": "Which city does Anna live in?", "rag_mode": mode, "rag_debug": True, **more}
        found: list[dict[str, Any]] = looked_up(me, known, **asked)["rag_debug"]["vector_hits"]
        return found

    every = hits()
    assert every
    for bound in {hit["similarity"] for hit in every}:
        near = {hit["anchor_id"] for hit in every if hit["similarity"] >= bound}
        assert {hit["anchor_id"] for hit in hits(rag_min_score=bound)} == near


def test_without_a_query_the_other_parameters_change_nothing(me: httpx.Client, known: str) -> None:
    plain = looked_up(me, known)
    with_some = looked_up(me, known, rag_query=" ", rag_top_k=1, rag_min_score=1, rag_mode="hybrid", rag_debug=True)
    assert with_some["facts"] == plain["facts"]
    assert with_some["rag_debug"]["vector_hits"] == []


def test_a_name_is_looked_up_in_the_memory_of_the_keys_user(me: httpx.Client, known: str) -> None:
    found = looked_up(me, "LISBON", type="name")
    assert [fact["name"] for fact in found["facts"]] == ["Lisbon"]
    assert me.get(LOOKUP, params={"type": "name", "value": "Atlantis"}).status_code == 404


def test_a_summary_names_what_it_rests_on(me: httpx.Client, known: str) -> None:
    summary = looked_up(me, "lisbon", f"{LOOKUP}/summary", type="name")
    assert (summary["by"], summary["summary"]) == ("memories", "Anna lives in Lisbon.")
    assert summary["relationship_keys"] == [
        fact["relationship_key"] for fact in looked_up(me, "lisbon", type="name")["facts"]
    ]


def test_nobody_looks_up_another_user(service: Served, me: httpx.Client, known: str) -> None:
    with service.client(service.key(Capability.READ, user="stranger")) as stranger:
        for params in ({"type": "user_id", "value": known}, {"type": "name", "value": "Lisbon", "subject_id": known}):
            for path in (LOOKUP, f"{LOOKUP}/summary"):
                assert stranger.get(path, params=params).status_code == 403
        assert stranger.get(LOOKUP, params={"type": "name", "value": "Lisbon"}).status_code == 404
    with service.client(service.key(Capability.READ, tenant="globex", user=known)) as namesake:
        assert namesake.get(LOOKUP, params={"type": "user_id", "value": known}).status_code == 404
