"""What the catalog promises, on every database it runs on."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, event

from schema import (
    AuditAction,
    Context,
    EventName,
    Fact,
    Memory,
    OpenTopic,
    Question,
    Status,
    Subject,
    Way,
)
from schema.errors import CatalogUnavailable, ConcurrentChange, StaleFence
from stores.catalog import Access, Catalog, Changes, Outcome, revisions
from stores.catalog.engine import create_catalog_engine
from stores.catalog.head import HEAD
from stores.catalog.summaries import Weight
from stores.catalog.tables import metadata
from stores.catalog.uses import Use
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory, a_turn, changes


def test_a_memory_is_read_as_it_was_written(catalog: Catalog) -> None:
    catalog.commit(changes())
    assert catalog.list_memories(ANNA) == [a_memory()]
    assert catalog.memory(a_memory().id) == a_memory()
    assert catalog.memories(ANNA, [a_memory().id, uuid.uuid4()]) == {a_memory().id: a_memory()}


def test_a_commit_writes_everything_at_once(catalog: Catalog) -> None:
    catalog.commit(changes())
    assert catalog.processed(ANNA, ["t1", "t2"]) == {"t1": "d" * 64}
    assert catalog.sources(ANNA, ["t1"]) == [a_turn()]
    assert [entry.action for entry in catalog.audit_of(ANNA, a_memory().id)] == [AuditAction.CREATED]
    assert [event.name for _, event in catalog.outbox(ANNA)] == [EventName.CREATED]
    assert [job.action for job in catalog.index_jobs(ANNA)] == ["upsert"]
    assert catalog.count_turns() == {Outcome.KEPT: 1}
    assert catalog.lags(NOW) == [2.0]


def test_a_refused_commit_writes_nothing(catalog: Catalog) -> None:
    catalog.commit(changes("t1", fence=10))
    with pytest.raises(StaleFence):
        catalog.commit(changes("t2", fence=9))
    assert catalog.processed(ANNA, ["t2"]) == {}
    assert len(catalog.list_memories(ANNA)) == 1
    assert len(catalog.outbox()) == 1


def test_a_fence_is_one_subjects_only(catalog: Catalog) -> None:
    catalog.commit(changes("t1", ANNA, fence=10))
    catalog.commit(changes("t1", BERT, fence=3))
    catalog.commit(changes("t1", NAMESAKE, fence=1))
    assert len(catalog.list_subjects()) == 3


def test_the_same_fence_may_write_again(catalog: Catalog) -> None:
    catalog.commit(changes("t1", fence=10))
    catalog.commit(changes("t2", fence=10))
    assert set(catalog.processed(ANNA, ["t1", "t2"])) == {"t1", "t2"}


def test_a_write_that_read_an_older_version_is_refused_whole(catalog: Catalog) -> None:
    catalog.commit(changes())
    second = a_memory(version=2)
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(second,)))
    with pytest.raises(ConcurrentChange):
        catalog.commit(replace(changes("t2"), updated=(second,)))
    with pytest.raises(ConcurrentChange):
        catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(a_memory(),)))
    assert catalog.list_memories(ANNA) == [second]


def test_subjects_see_nothing_of_each_other(catalog: Catalog) -> None:
    catalog.commit(changes("t1", ANNA))
    mine = a_memory()
    for other in (BERT, NAMESAKE):
        assert catalog.list_memories(other) == []
        assert catalog.memories(other, [mine.id]) == {}
        assert catalog.facts.with_attributes(other, [("user", "home_city")]) == []
        assert catalog.processed(other, ["t1"]) == {}
        assert catalog.sources(other, ["t1"]) == []
        assert catalog.audit_of(other, mine.id) == []
        assert catalog.outbox(other) == []
        assert catalog.index_jobs(other) == []


def test_a_memory_is_found_by_its_attribute_whatever_the_case_and_while_it_is_active(catalog: Catalog) -> None:
    catalog.commit(changes())
    assert catalog.facts.with_attributes(ANNA, [("USER", "home_city")]) == [a_memory()]
    assert catalog.facts.with_attributes(ANNA, [("user", "employer")]) == []
    gone = a_memory(version=2).model_copy(update={"status": Status.SUPERSEDED})
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(gone,)))
    assert catalog.facts.with_attributes(ANNA, [("user", "home_city")]) == []


def test_an_update_replaces_the_facts(catalog: Catalog) -> None:
    catalog.commit(changes())
    fact = Fact(entity="user", verb="works at", object="Acme", attribute="employer")
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(a_memory(version=2).model_copy(update={"facts": (fact,)}),)))
    assert catalog.facts.with_attributes(ANNA, [("user", "home_city")]) == []
    assert len(catalog.facts.with_attributes(ANNA, [("user", "employer")])) == 1


def test_a_deletion_leaves_the_audit_and_nothing_else(catalog: Catalog) -> None:
    catalog.commit(changes())
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(a_memory(),)))
    assert catalog.memory(a_memory().id) is None
    assert catalog.sources(ANNA, ["t1"]) == []
    assert catalog.facts.with_attributes(ANNA, [("user", "home_city")]) == []
    assert [job.action for job in catalog.index_jobs(ANNA)] == ["delete"]
    assert len(catalog.audit_of(ANNA, a_memory().id)) == 1


def test_a_source_stays_while_another_memory_needs_it(catalog: Catalog) -> None:
    other = a_memory().model_copy(update={"id": uuid.uuid4(), "summary": "Anna has a dog."})
    catalog.commit(replace(changes(), created=(a_memory(), other)))
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(a_memory(),)))
    assert catalog.sources(ANNA, ["t1"]) == [a_turn()]
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(other,)))
    assert catalog.sources(ANNA, ["t1"]) == []


def test_striking_an_index_job_leaves_a_newer_one(catalog: Catalog) -> None:
    catalog.commit(changes())
    old = catalog.index_jobs(ANNA)
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(a_memory(version=2),)))
    catalog.mark_done(old)
    [newer] = catalog.index_jobs(ANNA)
    assert newer.version == 2
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(a_memory(version=2),)))
    assert catalog.mark_done([newer]).versions == {}
    [deletion] = catalog.index_jobs(ANNA)
    assert deletion.action == "delete"
    catalog.mark_done([deletion])
    assert catalog.count_index_jobs() == 0


def test_an_announced_event_leaves_the_outbox(catalog: Catalog) -> None:
    [first] = catalog.commit(changes("t1"))
    [second] = catalog.commit(changes("t2"))
    catalog.mark_done(event_ids=[first])
    assert [id_ for id_, _ in catalog.outbox()] == [second]


# -- what one batch leaves for the next ---------------------------------------------------------------------------


def context_of(catalog: Catalog, *conversations: str, subject: Subject = ANNA, at: datetime = NOW) -> Context:
    return catalog.context(subject, conversations, topics_since=at, questions_since=at)


def a_topic(text: str, agent: str | None = "planner") -> OpenTopic:
    return OpenTopic(agent_id=agent, text=text, turn_id="t1")


def a_question(text: str, conversation: str = "c") -> Question:
    return Question(conversation_id=conversation, text=text, turn_id="t1")


def test_an_open_topic_of_an_agent_stays_until_it_is_told_otherwise(catalog: Catalog) -> None:
    japan, nameless = a_topic("a trip to Japan"), a_topic("a new flat", agent=None)
    catalog.commit(replace(changes("t1"), topics={"planner": japan, None: nameless}))
    catalog.commit(changes("t2"))
    assert context_of(catalog).open_topics == {"planner": japan, None: nameless}
    catalog.commit(replace(changes("t3"), topics={"planner": None, "coach": None}))
    assert context_of(catalog).open_topics == {None: nameless}
    peru = a_topic("a trip to Peru", agent=None)
    catalog.commit(replace(changes("t4"), topics={None: peru}))
    assert context_of(catalog).open_topics == {None: peru}


def test_a_question_is_that_of_its_conversation_until_another_takes_its_place(catalog: Catalog) -> None:
    pets, car = a_question("Do you have pets?"), a_question("Do you drive?", "d")
    catalog.commit(replace(changes("t1"), questions={"c": pets, "d": car}))
    assert context_of(catalog, "c").questions == {"c": pets}
    children = a_question("Do you have children?")
    catalog.commit(replace(changes("t2"), questions={"c": children, "d": None}))
    assert context_of(catalog, "c", "d").questions == {"c": children}


def test_what_is_carried_is_nobody_elses_and_not_stale(catalog: Catalog) -> None:
    left = replace(changes("t1"), topics={None: a_topic("Japan", None)}, questions={"c": a_question("Pets?")})
    catalog.commit(left)
    assert context_of(catalog, "c", subject=BERT) == context_of(catalog, "c", subject=NAMESAKE) == Context()
    later = NOW + timedelta(seconds=1)
    assert context_of(catalog, "c", at=later) == Context()
    assert catalog.drop_stale_context(topics_before=NOW, questions_before=NOW) == 0
    assert catalog.drop_stale_context(topics_before=later, questions_before=later) == 2
    assert context_of(catalog, "c") == Context()


def test_the_name_is_known_as_long_as_the_memory_of_it_holds(catalog: Catalog) -> None:
    def named(attribute: str, name: str, turn_id: str) -> Memory:
        fact = Fact(entity="user", verb="is named", object=name, attribute=attribute)
        return a_memory(turn_id).model_copy(update={"facts": (fact,)})

    full, short = named("name", "Margaret", "t1"), named("preferred_name", "Maggie", "t2")
    catalog.commit(Changes(subject=ANNA, at=NOW, created=(full,)))
    assert context_of(catalog).name == "Margaret"
    catalog.commit(Changes(subject=ANNA, at=NOW, created=(short,)))
    assert context_of(catalog).name == "Maggie"
    gone = short.model_copy(update={"status": Status.SUPERSEDED, "version": 2})
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(gone,)))
    assert context_of(catalog).name == "Margaret"
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(full,)))
    assert context_of(catalog).name is None


def test_a_deletion_drops_all_that_is_carried_of_the_subject(catalog: Catalog) -> None:
    catalog.commit(
        replace(changes(), topics={None: a_topic("Lisbon", None)}, questions={"c": a_question("Still in Lisbon?")})
    )
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(a_memory(),)))
    assert context_of(catalog, "c") == Context()


def test_an_id_is_found_by_its_first_characters(catalog: Catalog) -> None:
    catalog.commit(changes())
    id_ = a_memory().id
    assert catalog.ids_like(str(id_)[:8]) == [id_]
    assert catalog.ids_like(str(id_)) == [id_]
    assert catalog.ids_like("0000") == []
    with pytest.raises(ValueError, match="no id"):
        catalog.ids_like("Anna")


def test_writes_are_counted_from_a_moment_on(catalog: Catalog) -> None:
    late = a_memory("t2", created_at=NOW + timedelta(hours=2))
    catalog.commit(changes("t1"))
    catalog.commit(Changes(subject=ANNA, at=NOW, created=(late,)))
    assert catalog.subject_state(ANNA, NOW + timedelta(hours=1)).writes == 1
    assert catalog.subject_state(ANNA, NOW).writes == 2


def test_what_the_index_was_not_told_of_is_known(catalog: Catalog) -> None:
    catalog.commit(changes())
    assert catalog.subject_state(ANNA, NOW).unindexed == (a_memory(),)
    assert catalog.mark_done(catalog.index_jobs(ANNA)).versions == {a_memory().id: 1}
    assert catalog.subject_state(ANNA, NOW).unindexed == ()


def test_subjects_are_paged_in_order(catalog: Catalog) -> None:
    everyone = [Subject(tenant_id=f"t{n % 3}", subject_id=f"u{n:02d}") for n in range(10)]
    for subject in everyone:
        catalog.commit(Changes(subject=subject, at=NOW, fence=1))
    paged: list[Subject] = []
    while page := catalog.list_subjects(after=paged[-1] if paged else None, limit=3):
        paged += page
    assert paged == sorted(everyone, key=lambda subject: (subject.tenant_id, subject.subject_id))


def test_many_threads_write_without_losing_anything(catalog: Catalog) -> None:
    def write(number: int) -> None:
        for turn in range(10):
            catalog.commit(changes(f"t{number}-{turn}", Subject(tenant_id="acme", subject_id=f"u{number}")))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert catalog.count_memories() == {Status.ACTIVE: 160}


def test_the_migrations_make_exactly_the_tables_of_the_code(engine: Engine) -> None:
    def is_the_catalogs(name: str | None, kind: str, _parents: object) -> bool:
        return kind != "table" or not str(name).startswith("vector")  # an index in the same database has its own

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_the_catalogs})
        assert compare_metadata(context, metadata) == []


def test_the_newest_revision_is_the_one_that_the_code_names() -> None:
    scripts = ScriptDirectory(str(Path(revisions.__file__).parent / "migrations"))
    assert scripts.get_current_head() == HEAD


def test_migrating_again_changes_nothing(engine: Engine, catalog: Catalog) -> None:
    catalog.commit(changes())
    revisions.migrate(engine)
    assert catalog.list_memories(ANNA) == [a_memory()]


def test_tables_of_another_version_are_refused_with_what_to_do(tmp_path: Path) -> None:
    engine = create_catalog_engine(f"sqlite:///{tmp_path / 'empty.sqlite3'}")
    with pytest.raises(CatalogUnavailable, match="afterturn migrate"):
        revisions.check_revision(engine)
    engine.dispose()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CatalogUnavailable, match="AFTERTURN_DATA_DIR"):
        create_catalog_engine(f"sqlite:///{tmp_path / 'file' / 'catalog.sqlite3'}")


def test_an_error_of_the_database_says_nothing_of_what_people_said(catalog: Catalog) -> None:
    catalog.commit(changes())
    with pytest.raises(Exception, match=r"UNIQUE|unique") as caught:
        catalog.commit(Changes(subject=ANNA, at=NOW, created=(a_memory(),)))
    assert "Lisbon" not in str(caught.value)


# -- what searches ask ------------------------------------------------------------------------------------------------


def test_accesses_are_counted_of_the_memories_that_are_the_subjects_and_there(catalog: Catalog) -> None:
    catalog.commit(changes("t1"))
    mine, gone = a_memory("t1"), a_memory("t2")
    later = NOW + timedelta(hours=1)
    catalog.uses.count([Access(id_, ANNA, times, NOW) for id_, times in ((gone.id, 1), (mine.id, 2))])
    catalog.uses.count([Access(mine.id, ANNA, 1, later), Access(mine.id, BERT, 7, NOW)])
    [usage] = catalog.decay.idle(ANNA, unused_since=NOW, archived_before=NOW)
    assert usage.access == Access(mine.id, ANNA, 3, later)


def test_uses_are_counted_by_way_and_agent_and_go_with_their_memory(catalog: Catalog) -> None:
    catalog.commit(changes("t1"))
    mine, gone = a_memory("t1"), a_memory("t2")
    later = NOW + timedelta(hours=1)
    for at in (NOW, later):
        catalog.uses.count(
            [Access(mine.id, ANNA, 3, at)],
            [
                Use(mine.id, ANNA, Way.CONTEXT, None, 2, at),
                Use(mine.id, ANNA, Way.TOOL, "coach", 1, NOW),
                Use(gone.id, ANNA, Way.SEARCH, None, 1, at),
                Use(mine.id, BERT, Way.SEARCH, None, 1, at),
            ],
        )
    told = [Use(mine.id, ANNA, Way.CONTEXT, None, 4, later), Use(mine.id, ANNA, Way.TOOL, "coach", 2, NOW)]
    assert catalog.uses.of(ANNA, mine.id) == told
    assert catalog.uses.of(BERT, mine.id) == []
    assert catalog.uses.uncounted(ANNA, [mine.id, gone.id]) == {mine.id: Access(mine.id, ANNA, 6, later)}
    assert catalog.uses.uncounted(BERT, [mine.id]) == {}
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(mine,)))
    assert catalog.uses.of(ANNA, mine.id) == []


def test_summaries_tell_what_active_memories_of_one_subject_are_ranked_by(catalog: Catalog) -> None:
    catalog.commit(changes("t1"))
    catalog.commit(changes("t2"))
    catalog.commit(changes("t1", BERT))
    old = a_memory("t2", version=2).model_copy(update={"status": Status.ARCHIVED})
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(old,)))
    mine = a_memory("t1")
    weight = Weight(mine.importance, mine.trust_score, mine.last_accessed, mine.pinned)
    assert {summary.memory_id: summary.weight for summary in catalog.summaries(ANNA).summaries} == {mine.id: weight}


def test_memories_are_looked_up_by_their_ids_and_not_among_all_of_the_subject(catalog: Catalog, engine: Engine) -> None:
    if engine.dialect.name != "sqlite":
        pytest.skip("other databases know how many rows a subject has")
    asked: list[tuple[str, Any]] = []

    @event.listens_for(engine, "before_cursor_execute")
    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        asked.append((statement, parameters))

    catalog.memories(ANNA, [a_memory("t1").id])
    event.remove(engine, "before_cursor_execute", note)
    with engine.connect() as connection:
        plans = [
            connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()[0][-1]
            for statement, parameters in asked
            if statement.startswith("SELECT")
        ]
    assert ["(id=?)" in plan for plan in plans] == [True], plans
