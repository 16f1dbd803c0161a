"""What models cost is told once each call, by conversation, day, tenant and purpose, and goes with whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest

from memory.edits import Edit, edit
from memory.embedding import CountedEmbedder
from memory.metrics import count_llm_call
from memory.publish import publish
from memory.remember import Statement, remember
from memory.spending import shares_of, spending
from recall.iterative import Limits, retrieve_in_rounds
from schema import AuditAction, AuditEntry, Subject, Tombstone, Turn
from schema.errors import CatalogOutage, LLMUnavailable
from schema.tombstone import Scope
from stores.catalog import Catalog, Changes
from stores.catalog.costs import By, Prices, Spent, Sum
from stores.catalog.engine import create_catalog_engine
from stores.embedding.base import Vectors
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW
from tests.contract.embedders import minilm
from tests.contract.pipeline import Worker
from tests.contract.test_retrieval_in_rounds import WEATHER, step
from tests.scripted import Scripted, answer, guarded, told
from tests.turns import a_turn, subject
from worker.extract.model import ModelExtractor
from worker.extract.rules import RulesExtractor

TODAY = NOW.date()
LISBON = told("I live in Lisbon", "The user lives in Lisbon.")


def spent(conversation: str = "c1", prompt_tokens: float = 900, purpose: str = "turn") -> Spent:
    return Spent(conversation, purpose, 1, prompt_tokens, 40, 2, 3, 50)


@pytest.fixture
def asked(catalog: Catalog) -> Catalog:
    """A batch of Anna about two conversations, a later one, a night, and one of Bert and of another tenant."""
    for whose, days, rows in (
        (ANNA, 0, (spent("c1", 300), spent("c2", 600))),
        (ANNA, 1, (spent("c1"),)),
        (ANNA, 1, (spent("", 5_000, "night"),)),
        (BERT, 0, (spent("c9"),)),
        (NAMESAKE, 0, (spent("c9"),)),
    ):
        catalog.commit(Changes(subject=whose, at=NOW + timedelta(days=days), spent=rows))
    return catalog


def tokens(sums: list[Sum]) -> dict[tuple[str, ...], float]:
    return {one.group: one.prompt_tokens for one in sums}


def test_what_was_asked_for_adds_up_by_day_conversation_purpose_and_tenant(asked: Catalog) -> None:
    added_up = partial(asked.costs.added_up, since=TODAY, tenant_id="acme")
    assert tokens(added_up(By.DAY)) == {("2026-11-03",): 5_900, ("2026-11-02",): 1_800}
    assert [one.group[0] for one in added_up(By.DAY)] == ["2026-11-03", "2026-11-02"]
    assert tokens(added_up(By.CONVERSATION, subject_id="anna")) == {
        ("acme", "anna", ""): 5_000,
        ("acme", "anna", "c1"): 1_200,
        ("acme", "anna", "c2"): 600,
    }
    assert tokens(added_up(By.PURPOSE)) == {("night",): 5_000, ("turn",): 2_700}
    assert tokens(asked.costs.added_up(By.TENANT, TODAY)) == {("acme",): 7_700, (NAMESAKE.tenant_id,): 900}
    assert asked.costs.added_up(By.DAY, date(2026, 11, 4)) == []


def test_what_has_no_price_has_no_cost_and_each_kind_of_token_has_its_own() -> None:
    million = Sum(("2026-11-02",), 1, 2_000_000, 500_000, 1, 1, 10_000_000)
    assert million.cost(Prices(0, 0, 0)) is None
    assert million.cost(Prices(0.5, 2.0, 0.02)) == pytest.approx(1.0 + 1.0 + 0.2)


def test_what_was_asked_for_before_a_day_is_dropped_of_every_tenant(asked: Catalog) -> None:
    assert asked.costs.drop_before(TODAY, 100) == 0
    assert [asked.costs.drop_before(TODAY + timedelta(days=1), limit) for limit in (1, 100, 100)] == [2, 2, 0]
    assert tokens(asked.costs.added_up(By.TENANT, date.min)) == {("acme",): 5_900}


def test_a_sum_may_be_read_page_by_page(asked: Catalog) -> None:
    for by in By:
        added_up = partial(asked.costs.added_up, by, TODAY)
        paged: list[Sum] = []
        while page := added_up(after=paged[-1].group if paged else (), limit=1):
            paged += page
        assert paged == added_up()
        assert len(paged) > 1


def erased(whose: Subject) -> AuditEntry:
    return AuditEntry(**whose.model_dump(), at=NOW, by="anna", action=AuditAction.ERASED, reason="", policy_version="p")


def test_costs_go_with_whom_or_what_is_erased_and_do_not_come_back_with_work_that_began_before(asked: Catalog) -> None:
    conversation = Tombstone(Scope.CONVERSATION, "c1", NOW)
    asked.commit(Changes(subject=ANNA, at=NOW, tombstones=(conversation,)))
    conversations = partial(asked.costs.added_up, By.CONVERSATION, TODAY, tenant_id="acme", subject_id="anna")
    assert [one.group[2] for one in conversations()] == ["", "c2"]
    asked.erasures.wipe(ANNA, 1, [Tombstone(Scope.SUBJECT, "", NOW)], erased(ANNA))
    asked.costs.note(ANNA, [spent()], NOW - timedelta(minutes=1))
    assert conversations() == []
    assert asked.erasures.count_left(ANNA)["costs"] == 0
    asked.costs.note(ANNA, [spent()], NOW + timedelta(minutes=1))
    assert [one.prompt_tokens for one in conversations()] == [900]


def test_a_batch_is_split_over_its_conversations_by_their_characters() -> None:
    turns = [Turn.model_validate(a_turn("anna", number, text)) for number, text in ((1, "a" * 30), (2, "b" * 10))]
    turns[1] = turns[1].model_copy(update={"conversation_id": "other"})
    shares = shares_of(turns)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["other"] < shares[turns[0].conversation_id]


# -- what work costs --------------------------------------------------------------------------------------------------


class Paid:
    """An embedder whose provider counts ten tokens a text."""

    name, dimensions, thresholds = minilm().name, minilm().dimensions, minilm().thresholds

    def embed(self, texts: Sequence[str]) -> Vectors:
        return minilm().embed(texts)

    def embed_billed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        return self.embed(texts), 10 * len(texts)


def asking(worker: Worker, *answers: object) -> Worker:
    categories = worker.context.settings.categories
    llm = guarded(Scripted(*answers), count_llm_call)
    extractor = ModelExtractor(llm, RulesExtractor(categories), categories, worker.context.policy)
    return worker.with_parts(extractor=extractor, embedder=CountedEmbedder(Paid()))


def test_calls_of_which_nothing_came_and_tries_that_failed_count_too(worker: Worker, anna: str) -> None:
    # The first answer is not valid, and the second call fails: the batch is tried again.
    on = asking(worker, "no JSON", LLMUnavailable("away"), answer(LISBON), answer())
    on.hear(anna, "I live in Lisbon.", conversation_id="home")
    on.wait_over(subject(anna))
    on.work(subject(anna))
    on.hear(anna, "I am reading a book about ships.", first=2, conversation_id="books")
    sums = {
        one.group[2]: one for one in worker.context.catalog.costs.added_up(By.CONVERSATION, date.min, subject_id=anna)
    }
    assert {name: (one.llm_calls, one.prompt_tokens) for name, one in sums.items()} == {
        "home": (3, 200),
        "books": (1, 100),
    }
    assert sums["home"].embedding_tokens == 10 * sums["home"].embedding_texts > 0


def test_what_a_search_in_rounds_asks_of_a_model_is_its_users(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I prefer Celsius for temperatures.")
    llm = guarded(Scripted(step("GET_MEMORIES", "weather"), step("IGNORE")), count_llm_call)
    retrieve_in_rounds(None, [subject(anna)], [WEATHER], worker.context, llm=llm, limits=Limits(seconds=30), now=NOW)
    [of_questions] = [
        one
        for one in worker.context.catalog.costs.added_up(By.PURPOSE, date.min, subject_id=anna)
        if one.group == ("question",)
    ]
    assert (of_questions.llm_calls, of_questions.prompt_tokens) == (2, 200)


def test_what_changes_by_hand_ask_for_is_counted_too(worker: Worker, anna: str) -> None:
    on = worker.with_parts(embedder=CountedEmbedder(Paid()))
    kept = remember(None, subject(anna), Statement("Anna has a cat."), on.context, now=NOW).memory
    assert kept is not None
    edit(None, subject(anna), kept.id, Edit(summary="Anna has two cats."), on.context, now=NOW)
    [of_changes] = worker.context.catalog.costs.added_up(By.PURPOSE, date.min, subject_id=anna)
    assert of_changes.group == ("change",)
    assert of_changes.embedding_tokens == 10 * of_changes.embedding_texts
    assert of_changes.embedding_texts >= 2


def test_what_was_asked_for_in_vain_is_written_with_the_next_try(worker: Worker, anna: str) -> None:
    class Away(Catalog):
        def commit(self, *_: Any) -> list[int]:
            raise CatalogOutage("away")

    with spending("night") as work:
        work.llm_calls, work.prompt_tokens = 1, 100
        away = worker.with_parts(catalog=Away(create_catalog_engine(worker.context.settings.effective_catalog_url)))
        with pytest.raises(CatalogOutage):
            publish(Changes(subject=subject(anna), at=NOW), {}, away.context)
        away.context.catalog.close()
        publish(Changes(subject=subject(anna), at=NOW), {}, worker.context)
        publish(Changes(subject=subject(anna), at=NOW), {}, worker.context)
    assert tokens(worker.context.catalog.costs.added_up(By.PURPOSE, date.min, subject_id=anna)) == {("night",): 100}
