"""What a person is shown of their own memory: found again, whatever is done with it, with words and history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memory.edits import suppress
from recall.filters import Filters
from recall.listing import list_memories
from recall.registry import find_known, history_of, near_of, quote, quotes_of
from schema import Capability, Memory, Principal, Status
from stores.catalog import Catalog, Changes
from tests.contract.catalogs import ANNA, NOW, a_memory
from tests.contract.pipeline import Worker, only
from tests.turns import WHEN, subject

EVERY_STATUS = Filters(statuses=tuple(Status))


def of(user: str) -> Principal:
    return Principal(tenant_id="acme", user_id=user, capabilities=frozenset({Capability.READ}), key_id="key_1")


@pytest.mark.parametrize("words", [["strasse"], ["berlin"], ["100%"], ["_"], ["straße"], ["kelvin", "in"], ["zürich"]])
def test_the_catalog_leaves_out_nothing_that_has_the_words(catalog: Catalog, words: list[str]) -> None:
    cities = ("der Straße in Berlin", "BERLIN", "100% Kelvin", "a_b", "\u212aelvin", "Zürich", "ZÜRICH")
    memories = [a_memory(f"t{number}", city=city) for number, city in enumerate(cities)]
    catalog.commit(Changes(subject=ANNA, at=NOW, created=tuple(memories)))

    def has_them(memory: Memory) -> bool:
        return all(word in memory.summary.casefold() for word in words)

    found = catalog.pages.of(ANNA, statuses=(Status.ACTIVE,), words=words)
    assert {memory.id for memory in found} >= {memory.id for memory in memories if has_them(memory)}
    assert len(found) < len(memories) or not all(word.isascii() for word in words)


@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_the_catalog_leaves_out_nothing_that_was_said_in_time_whatever_the_zone(catalog: Catalog, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    memories = [
        a_memory(f"t{day}").model_copy(update={"said_at": (NOW + timedelta(days=day)).astimezone(zone)})
        for day in range(-5, 6)
    ]
    catalog.commit(Changes(subject=ANNA, at=NOW, created=tuple(memories)))
    since, until = NOW - timedelta(days=1), NOW + timedelta(days=1)
    found = catalog.pages.of(ANNA, statuses=(Status.ACTIVE,), since=since, until=until)
    assert {memory.id for memory in found} >= {memory.id for memory in memories if since <= memory.said_at < until}
    assert len(found) < len(memories)


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_first_and_the_last_day_there_is_are_days(catalog: Catalog, moment: datetime) -> None:
    assert catalog.pages.of(ANNA, statuses=(Status.ACTIVE,), since=moment, until=moment) == []


def test_a_list_may_ask_for_a_time(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.")
    for days, count in ((0, 1), (1, 0)):
        filters = Filters(since=WHEN + timedelta(days=days))
        assert len(list_memories(of(anna), subject(anna), worker.context, filters=filters).memories) == count


def test_what_is_never_mentioned_is_found_by_its_words_and_no_look_counts_as_use(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.", "I am allergic to peanuts.")
    whose = subject(anna)
    violin = only([memory for memory in worker.known(whose) if "violin" in memory.summary])
    suppress(None, whose, violin.id, worker.context, now=WHEN)
    found = find_known(of(anna), whose, "violin", worker.context, now=WHEN)
    assert violin.id in [memory.id for memory in found]
    assert find_known(of(anna), whose, "peanuts", worker.context, now=WHEN)[0].id != violin.id
    worker.context.accesses.close()
    assert worker.rows("accesses", whose) == []


def test_a_memory_is_shown_with_the_sentence_it_came_from(worker: Worker, anna: str) -> None:
    worker.hear(anna, "What a day! I play the violin. See you later.")
    whose = subject(anna)
    violin = only(worker.known(whose))
    assert quotes_of(of(anna), whose, [violin], worker.context) == {violin.id: "I play the violin."}


def test_whoever_may_not_read_turns_is_quoted_none(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.")
    whose = subject(anna)
    keeper = Principal(tenant_id="acme", capabilities=frozenset({Capability.READ}), key_id="key_1")
    memories = list_memories(keeper, whose, worker.context).memories
    assert quotes_of(keeper, whose, memories, worker.context) == {}


@pytest.mark.parametrize("length", [10, 900])
def test_a_quote_is_short_and_whole_words(length: int) -> None:
    said = " ".join(["violin"] * length) + ". And Bach."
    quoted = quote(said, "Anna plays the violin.")
    assert len(quoted) <= 202
    assert set(quoted.removesuffix(" …").removesuffix(".").split()) == {"violin"}


def test_what_replaced_what_is_told_from_wherever_one_looks(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    for number, city in enumerate(("Lisbon", "Berlin", "Rome")):
        worker.hear(anna, f"I moved to {city}." if number else f"I live in {city}.", first=number)
    known = worker.known(whose, *EVERY_STATUS.statuses)
    for memory in known:
        history = history_of(of(anna), whose, memory, worker.context)
        assert [city for one in history for city in ("Lisbon", "Berlin", "Rome") if city in one.summary] == [
            "Lisbon",
            "Berlin",
            "Rome",
        ]
        assert near_of(of(anna), whose, memory, worker.context) == []
