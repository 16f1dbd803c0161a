"""What a search finds, over real stores."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.erasure.memories import erase_memories
from memory.preferences import set_preference
from recall.graph import around
from recall.retrieve import retrieve
from schema import Memory, Preference, PreferenceName, Subject
from stores.catalog import Changes
from tests.contract.pipeline import Worker, only
from tests.turns import subject

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


def summaries(worker: Worker, *subjects: Subject, query: str, limit: int = 10) -> list[str]:
    return [one.memory.summary for one in retrieve(None, subjects, query, worker.context, limit=limit, now=NOW)]


def test_words_find_what_vectors_rank_low(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My locker at work is QX7731.", "I love my work at the bakery.", "My work is stressful.")
    assert "QX7731" in summaries(worker, subject(anna), query="qx7731", limit=1)[0]


def test_meaning_finds_what_shares_no_word(worker: Worker) -> None:
    # A name of its own, always the same: how near a question is hangs on the name in the summary too.
    worker.hear("petra", "I adopted a kitten named Miso.", "I drive a red truck.", "I play the violin.")
    assert "Miso" in summaries(worker, subject("petra"), query="Which pets are there?", limit=1)[0]


def test_what_the_index_was_not_told_of_yet_is_found_by_its_words(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.")
    memory: Memory = only(worker.known(subject(anna)))
    worker.context.index.delete(subject(anna), [memory.index_key])
    assert summaries(worker, subject(anna), query="violin") == [memory.summary]


def test_what_the_index_still_has_but_the_catalog_has_not_is_not_found(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.", "I play chess on Sundays.")
    violin = next(memory for memory in worker.known(subject(anna)) if "violin" in memory.summary)
    worker.context.catalog.commit(Changes(subject=subject(anna), at=NOW, deleted=(violin,)))
    assert all("violin" not in summary for summary in summaries(worker, subject(anna), query="violin"))


def test_a_forgotten_memory_is_found_by_neither(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.")
    memory = only(worker.known(subject(anna)))
    assert summaries(worker, subject(anna), query="violin") == [memory.summary]
    erase_memories(subject(anna), [memory.id], worker.context, by="test", reason="asked", now=NOW)
    assert summaries(worker, subject(anna), query="violin") == []


def test_what_is_on_a_topic_that_the_subject_has_blocked_since_is_not_found(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "I take insulin every morning.", "I play the violin.")
    insulin = next(one for one in worker.known(whose) if "insulin" in one.summary)
    wish = Preference(name=PreferenceName.BLOCKED_TOPIC, value="health")

    def is_found(*, blocked: bool) -> tuple[bool, bool]:
        set_preference(whose, wish, worker.context, by="dora", now=NOW, holds=blocked)
        walked = around(None, whose, [fact.entity for fact in insulin.facts], worker.context)
        searched = summaries(worker, whose, query="insulin")
        return insulin.summary in searched, any(one.memory_id == insulin.id for one in walked)

    assert is_found(blocked=True) == (False, False)
    assert is_found(blocked=False) == (True, True)


def test_nobody_finds_anothers_memories(worker: Worker, anna: str) -> None:
    other = f"not-{anna}"
    worker.hear(anna, "I play the violin.")
    worker.hear(other, "I play the cello.")
    assert all("cello" not in summary for summary in summaries(worker, subject(anna), query="cello"))
    both = summaries(worker, subject(anna), subject(other), query="cello")
    assert "cello" in both[0]
    assert len(both) == 2


def test_subjects_of_several_tenants_are_never_asked_together(worker: Worker, anna: str) -> None:
    elsewhere = Subject(tenant_id="globex", subject_id=anna)
    with pytest.raises(ValueError, match="several tenants"):
        retrieve(None, [subject(anna), elsewhere], "violin", worker.context, now=NOW)


def test_an_empty_query_is_refused(worker: Worker, anna: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        retrieve(None, [subject(anna)], "  ", worker.context, now=NOW)


def test_scores_fall_from_at_most_one(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.", "I play chess on Sundays.", "I live in Oslo.")
    scores = [one.score for one in retrieve(None, [subject(anna)], "What does she play?", worker.context, now=NOW)]
    assert scores == sorted(scores, reverse=True)
    assert 0.0 <= scores[-1] <= scores[0] <= 1.0
