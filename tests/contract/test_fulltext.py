"""The fulltext keeps in step with the catalog, on every database."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

from schema import Memory, Policy, Status, Subject
from stores.catalog import Catalog, Changes
from stores.fulltext import FullText
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory

POLICY = Policy()


def remember(catalog: Catalog, *memories: Memory) -> None:
    catalog.commit(Changes(subject=memories[0].subject, at=NOW, created=memories))


def found(fulltext: FullText, query: str, *subjects: Subject) -> list[uuid.UUID]:
    return list(scores(fulltext, query, *subjects))


def scores(fulltext: FullText, query: str, *subjects: Subject) -> dict[uuid.UUID, float]:
    words = fulltext.read([(whose, None) for whose in subjects or (ANNA,)])
    return {found.summary.memory_id: found.score for found in words.compare(query, 10, POLICY)}


def test_a_search_sees_what_was_committed_before_it(catalog: Catalog) -> None:
    fulltext = FullText(catalog.summaries)
    assert found(fulltext, "Lisbon") == []
    for number, city in enumerate(("Lisbon", "Porto", "Lisbon")):
        memory = a_memory(f"t{number}", city=city)
        remember(catalog, memory)
        assert memory.id in found(fulltext, city)
    assert len(found(fulltext, "Lisbon")) == 2


def test_what_another_process_wrote_is_seen(catalog: Catalog) -> None:
    reader = FullText(catalog.summaries)
    remember(catalog, a_memory("t1", city="Porto"))
    assert len(found(reader, "anna")) == 1
    remember(catalog, a_memory("t2", city="Faro"))
    assert found(reader, "Faro") == found(FullText(catalog.summaries), "Faro") == [a_memory("t2").id]


def test_a_changed_summary_is_found_by_its_new_words_only(catalog: Catalog) -> None:
    fulltext = FullText(catalog.summaries)
    before = a_memory("t1", city="Lisbon")
    remember(catalog, before, a_memory("t2", city="Porto"))
    assert found(fulltext, "Lisbon") == [before.id]
    after = before.model_copy(update={"summary": "Anna lives in Vienna.", "version": 2})
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(after,)))
    assert found(fulltext, "Vienna") == [before.id]
    assert found(fulltext, "Lisbon") == []


def test_what_is_superseded_or_deleted_is_not_found(catalog: Catalog) -> None:
    fulltext = FullText(catalog.summaries)
    old, gone, kept = (a_memory(f"t{n}", city="Lisbon") for n in range(3))
    remember(catalog, old, gone, kept)
    assert len(found(fulltext, "Lisbon")) == 3
    superseded = old.model_copy(update={"status": Status.SUPERSEDED, "version": 2})
    catalog.commit(Changes(subject=ANNA, at=NOW, updated=(superseded,)))
    assert found(fulltext, "Lisbon") == sorted([gone.id, kept.id])
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(gone,)))
    assert found(fulltext, "Lisbon") == found(FullText(catalog.summaries), "Lisbon") == [kept.id]
    assert not {old.id, gone.id} & {
        found.summary.memory_id
        for found in fulltext.read([(ANNA, None)]).compare("Oslo", 10, POLICY, also=[old.id, gone.id])
    }


def test_no_subject_finds_or_weighs_anothers_words(catalog: Catalog) -> None:
    fulltext = FullText(catalog.summaries)
    remember(catalog, a_memory("t1", city="Lisbon"), a_memory("t2", city="Porto"))
    alone = scores(fulltext, "Lisbon")
    for other in (BERT, NAMESAKE):
        for number in range(5):
            remember(catalog, a_memory(f"o{number}", other, city="Lisbon"))
    assert scores(fulltext, "Lisbon") == alone
    assert len(found(fulltext, "Lisbon", BERT)) == 5
    assert found(fulltext, "Lisbon", Subject(tenant_id="acme", subject_id="nobody")) == []


def test_several_subjects_are_weighed_together(catalog: Catalog) -> None:
    fulltext = FullText(catalog.summaries)
    hers, his = a_memory("t1", city="Lisbon"), a_memory("t2", BERT, city="Lisbon")
    remember(catalog, hers)
    remember(catalog, his)
    weighed = scores(fulltext, "Lisbon", ANNA, BERT)
    assert weighed[hers.id] == weighed[his.id]


def test_a_full_cache_forgets_the_least_recently_asked_and_still_answers(catalog: Catalog) -> None:
    remember(catalog, a_memory("t1", city="Lisbon"))
    remember(catalog, a_memory("t1", BERT, city="Porto"))
    small = FullText(catalog.summaries, cache_bytes=1)
    for _ in range(2):
        assert len(found(small, "Lisbon")) == len(found(small, "Porto", BERT)) == 1


def test_a_subject_that_was_wiped_and_came_back_is_read_anew(catalog: Catalog) -> None:
    fulltext = FullText(catalog.summaries)
    first = a_memory("t1", city="Lisbon")
    remember(catalog, first)
    assert found(fulltext, "Lisbon") == [first.id]
    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(first,)))
    later = replace(Changes(subject=ANNA, at=NOW + timedelta(days=1)), created=(a_memory("t2", city="Oslo"),))
    catalog.commit(later)
    assert found(fulltext, "Lisbon") == []
    assert found(fulltext, "Oslo") == [a_memory("t2").id]
