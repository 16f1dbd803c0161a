"""What every graph promises: facts of one subject, walked from entity to entity, with the turns that they came from."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from recall.anchors import EntityName, Question, look_up
from recall.graph import around
from schema import AuditAction, AuditEntry, Fact, Memory, Scope, Status, Subject, Tombstone
from schema.errors import NotFound
from stores.catalog import Catalog, Changes, revisions
from stores.catalog.engine import create_catalog_engine
from stores.graph import Graph, SqlGraph
from stores.graph.age import AgeGraph
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory
from tests.contract.pipeline import Worker
from tests.migrated import put_catalog
from tests.postgres import PostgresServer
from tests.turns import subject


@pytest.fixture(scope="module")
def age_database(postgres: PostgresServer) -> str:
    url = postgres.database()
    engine = create_catalog_engine(url)
    revisions.migrate(engine)
    engine.dispose()
    return url


@pytest.fixture(params=["age", "sql on postgres", "sql on sqlite"])
def graph_engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Engine]]:
    if request.param == "sql on sqlite":
        engine = create_catalog_engine(f"sqlite:///{put_catalog(tmp_path_factory.mktemp('graph'))}")
    else:
        url: str = request.getfixturevalue("age_database")
        request.getfixturevalue("postgres").empty(url)
        engine = create_catalog_engine(url)
    yield request.param, engine
    engine.dispose()


@pytest.fixture
def graph(graph_engine: tuple[str, Engine]) -> Graph:
    name, engine = graph_engine
    if name != "age":
        return SqlGraph(engine)
    made = AgeGraph(engine)
    made.ensure()
    with engine.begin() as connection:
        connection.exec_driver_sql("LOAD 'age'; SET LOCAL search_path = ag_catalog, public")
        connection.exec_driver_sql(
            "SELECT * FROM ag_catalog.cypher('afterturn_graph', $$ MATCH (n) DETACH DELETE n $$)"
            " AS (a ag_catalog.agtype)"
        )
    return made


@pytest.fixture
def catalog(graph_engine: tuple[str, Engine], graph: Graph) -> Catalog:
    return Catalog(graph_engine[1], graph=graph)


def stating(turn: str, *facts: tuple[str, str, str], whose: Subject = ANNA) -> Memory:
    """A memory that states these facts."""
    made = tuple(Fact(entity=entity, verb=verb, object=thing) for entity, verb, thing in facts)
    return a_memory(turn, whose).model_copy(update={"facts": made})


def keep(catalog: Catalog, *memories: Memory) -> None:
    for memory in memories:
        catalog.commit(Changes(subject=memory.subject, at=NOW, fence=1, created=(memory,)))


def told(graph: Graph, whose: Subject, *names: str, hops: int = 1) -> list[tuple[str, str, str]]:
    return [(one.entity, one.verb, one.object) for one in graph.about(whose, names, hops=hops)]


FAMILY = stating("t1", ("Lena", "is daughter of", "User"), ("Lena", "studies in", "Graz"))
CITY = stating("t2", ("Graz", "lies in", "Austria"))
COUNTRY = stating("t3", ("Austria", "borders", "Slovenia"))


def test_the_facts_about_a_name_come_with_their_memory_and_turns(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, FAMILY)
    [first, second] = graph.about(ANNA, ["LENA"])
    assert (first.entity, first.verb, first.object) == ("lena", "is daughter of", "User")
    assert (second.memory_id, second.sources, second.distance) == (FAMILY.id, ("t1",), 0)


def test_a_walk_goes_as_far_as_it_may_nearest_first(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, COUNTRY, CITY, FAMILY)
    assert len(told(graph, ANNA, "Lena", hops=1)) == 2
    assert told(graph, ANNA, "Lena", hops=2)[2:] == [("graz", "lies in", "Austria")]
    walked = graph.about(ANNA, ["Lena"], hops=5)
    assert [one.distance for one in walked] == [0, 0, 1, 2]
    assert graph.about(ANNA, ["Lena"], hops=5, limit=3) == walked[:3]
    assert graph.about(ANNA, ["Lena"], hops=0) == []


def test_a_walk_goes_against_the_verbs_too(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, COUNTRY, CITY, FAMILY)
    assert told(graph, ANNA, "slovenia", hops=2) == [("austria", "borders", "Slovenia"), ("graz", "lies in", "Austria")]


def test_a_walk_does_not_pass_through_the_user_of_whom_all_is_said(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, stating("t1", ("User", "lives in", "Lisbon")), stating("t2", ("User", "works at", "Acme")))
    assert told(graph, ANNA, "Lisbon", hops=3) == [("user", "lives in", "Lisbon")]
    assert len(told(graph, ANNA, "User")) == 2


def test_a_memory_is_where_a_walk_begins_if_it_is_the_subjects(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, FAMILY, CITY)
    assert [one.memory_id for one in graph.facts_of_memories(ANNA, [CITY.id])] == [CITY.id]
    assert {one.memory_id for one in graph.facts_of_memories(ANNA, [CITY.id], hops=1)} == {CITY.id, FAMILY.id}
    assert graph.facts_of_memories(BERT, [CITY.id], hops=3) == []
    assert graph.facts_of_memories(ANNA, [uuid.uuid4()]) == []


def test_facts_are_found_by_the_turns_that_said_so(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, FAMILY, CITY)
    assert {one.memory_id for one in graph.facts_said_in(ANNA, ["t1", "t9"])} == {FAMILY.id}
    assert graph.facts_said_in(BERT, ["t1"]) == []
    assert graph.facts_said_in(ANNA, []) == []


def test_all_facts_of_a_subject_come_in_one_order_as_far_as_they_are_wanted(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, FAMILY, CITY, stating("t9", ("Lena", "lives in", "Bern"), whose=BERT))
    found = graph.facts_of_subject(ANNA)
    assert [(one.entity, one.verb) for one in found] == [
        ("graz", "lies in"),
        ("lena", "is daughter of"),
        ("lena", "studies in"),
    ]
    assert graph.facts_of_subject(ANNA, limit=2) == found[:2]


def test_subjects_see_nothing_of_each_other(catalog: Catalog, graph: Graph) -> None:
    for whose in (ANNA, BERT, NAMESAKE):
        keep(catalog, stating("t1", ("Lena", "lives in", whose.key), whose=whose))
    for whose in (ANNA, BERT, NAMESAKE):
        assert told(graph, whose, "Lena", hops=4) == [("lena", "lives in", whose.key)]


def test_a_fact_that_is_no_longer_active_is_not_told(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, FAMILY)
    old = FAMILY.model_copy(update={"status": Status.SUPERSEDED, "version": 2})
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(old,)))
    assert graph.about(ANNA, ["Lena"]) == []
    assert graph.facts_of_memories(ANNA, [FAMILY.id]) == []


def test_an_update_replaces_facts_and_sources(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, FAMILY)
    facts = (Fact(entity="Lena", verb="studies in", object="Vienna"),)
    again = FAMILY.model_copy(update={"facts": facts, "source_turn_ids": ("t1", "t9"), "version": 2})
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(again,)))
    [only] = graph.about(ANNA, ["Lena"])
    assert (only.object, only.sources) == ("Vienna", ("t1", "t9"))
    assert graph.about(ANNA, ["Graz"]) == []


def test_what_is_erased_is_told_no_more_and_leaves_no_node(
    catalog: Catalog, graph: Graph, graph_engine: tuple[str, Engine]
) -> None:
    keep(catalog, FAMILY, CITY)
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(FAMILY,)))
    assert told(graph, ANNA, "Lena", "Graz", hops=3) == [("graz", "lies in", "Austria")]
    if graph_engine[0] == "age":
        with graph_engine[1].connect() as connection:
            nodes = connection.exec_driver_sql(
                'SELECT CAST(properties AS text) FROM afterturn_graph."Entity"'
            ).scalars()
            assert not [node for node in nodes if "lena" in node]


def test_a_subject_that_is_erased_has_no_facts(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, FAMILY, stating("t1", ("Lena", "lives in", "Rome"), whose=BERT))
    line = AuditEntry(action=AuditAction.DELETED, **ANNA.model_dump(), at=NOW, by="o", reason="r", policy_version="p")
    catalog.erasures.wipe(ANNA, 99, [Tombstone(Scope.SUBJECT, "", NOW)], line)
    assert graph.about(ANNA, ["Lena", "User", "Graz"], hops=3) == []
    assert len(told(graph, BERT, "Lena")) == 1


def test_a_refused_commit_leaves_no_facts(catalog: Catalog, graph: Graph) -> None:
    keep(catalog, CITY)
    with pytest.raises(Exception, match=r"UNIQUE|unique"):
        catalog.commit(Changes(subject=ANNA, at=NOW, created=(FAMILY, CITY)))
    assert graph.about(ANNA, ["Lena"]) == []


def test_names_of_any_kind_are_found_as_they_were_said(catalog: Catalog, graph: Graph) -> None:
    odd = 'O\'Hara "$cypher$" \\ 漢字 ß %s {x}'
    keep(catalog, stating("t1", (odd, "knows", odd.upper())))
    [only] = graph.about(ANNA, [odd])
    assert only.object == odd.upper()


def test_writers_of_one_subject_and_of_many_make_each_node_once(catalog: Catalog, graph: Graph) -> None:
    def write(number: int) -> None:
        whose = ANNA if number % 2 else Subject(tenant_id="acme", subject_id=f"u{number}")
        keep(catalog, stating(f"t{number}", ("Lena", "visited", f"City {number}"), whose=whose))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert len(told(graph, ANNA, "Lena")) == 12
    assert all(len(told(graph, Subject(tenant_id="acme", subject_id=f"u{n}"), "Lena")) == 1 for n in range(0, 24, 2))


@pytest.mark.parametrize("graph_engine", ["age"], indirect=True)
def test_a_graph_that_was_switched_off_meanwhile_is_made_what_the_catalog_is(
    catalog: Catalog, graph: Graph, graph_engine: tuple[str, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.graph.age_rebuild._MEMORIES_A_TRANSACTION", 1)
    assert isinstance(graph, AgeGraph)
    keep(catalog, FAMILY, CITY)
    without = Catalog(graph_engine[1])
    changed = CITY.model_copy(update={"facts": (Fact(entity="Graz", verb="lies on", object="Mur"),), "version": 2})
    without.commit(Changes(subject=ANNA, at=NOW, created=(COUNTRY,), updated=(changed,), deleted=(FAMILY,)))
    assert len(told(graph, ANNA, "Lena")) == 2
    assert graph.rebuild(ANNA) == 3
    assert told(graph, ANNA, "Lena", "Mur", "Slovenia") == [
        ("austria", "borders", "Slovenia"),
        ("graz", "lies on", "Mur"),
    ]
    with graph_engine[1].connect() as connection:
        nodes = connection.exec_driver_sql('SELECT CAST(properties AS text) FROM afterturn_graph."Entity"').scalars()
        assert not [node for node in nodes if "lena" in node]
    assert graph.rebuild(ANNA) == 0
    assert len(graph.facts(ANNA)) == 2
    line = AuditEntry(
        action=AuditAction.ERASED, **ANNA.model_dump(), at=NOW, by="dora", reason="erased", policy_version="p"
    )
    catalog.erasures.wipe(ANNA, 11, [Tombstone(Scope.SUBJECT, "", NOW)], line)
    assert graph.facts(ANNA) == []


# -- what recall makes of it ----------------------------------------------------------------------------------------


def test_what_was_said_in_a_chat_is_found_by_name_and_by_question(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon.", "My sister is called Karin.")
    whose, other = subject(anna), subject(f"{anna}-other")

    [home] = around(None, whose, ["lisbon"], worker.context)
    assert (home.entity, home.object, home.sources) == ("user", "Lisbon", (f"{anna}-0",))
    assert around(None, other, ["lisbon"], worker.context) == []
    asked = Question("which city is home")
    known = look_up(None, whose, EntityName("user_id", anna), worker.context, question=asked, now=NOW)
    assert [fact.relation for fact in known.facts if fact.relation.object == "Lisbon"] == [home]
    with pytest.raises(NotFound):
        look_up(None, other, EntityName("user_id", other.subject_id), worker.context, question=asked, now=NOW)


def test_a_walk_from_nowhere_is_refused(worker: Worker, anna: str) -> None:
    for names, hops in (([], 1), ([" "], 1), (["Lisbon"], 0)):
        with pytest.raises(ValueError, match="name an entity"):
            around(None, subject(anna), names, worker.context, hops=hops)
