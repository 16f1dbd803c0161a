"""The store's items over real catalogs: what is kept, found, expires, leaves and goes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.erasure.subjects import erase_subject
from memory.export import export
from memory.imports import import_lines
from memory.items import Get, ListNamespaces, Scored, Search, read_items, write_items
from memory.preferences import set_preference
from schema import Capability, Preference, PreferenceName, Principal, Subject
from schema.errors import NotAllowed, NotAMember, Outdated, QuotaExceeded
from schema.item import NamespaceMatch, Put
from tests.contract.pipeline import Worker
from tests.turns import subject
from worker.nights.cleanup import clean_up

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
NOTES = ("notes", "food")
VEGAN = Put(NOTES, "vegan", {"text": "Anna eats no meat"}, texts=("Anna eats no meat",))
VIOLIN = Put(("notes", "music"), "violin", {"text": "She plays the violin"}, texts=("She plays the violin",))


def keep(worker: Worker, whose: Subject, *puts: Put, now: datetime = NOW) -> None:
    write_items(None, whose, puts, worker.context, now=now)


def found(worker: Worker, whose: Subject, asked: Search, now: datetime = NOW) -> list[Scored]:
    [hits] = read_items(None, whose, [asked], worker.context, now=now)
    assert isinstance(hits, list)
    return [hit for hit in hits if isinstance(hit, Scored)]


def keys(worker: Worker, whose: Subject, asked: Search, now: datetime = NOW) -> list[str]:
    return [hit.item.key for hit in found(worker, whose, asked, now)]


def value_of(worker: Worker, whose: Subject, put: Put, now: datetime = NOW) -> dict[str, Any] | None:
    [got] = read_items(None, whose, [Get(put.namespace, put.key)], worker.context, now=now)
    return got.item.value if isinstance(got, Scored) else None


def test_a_value_comes_back_as_it_was_and_keeps_when_it_was_made(worker: Worker, anna: str) -> None:
    value = {"deep": [{"ü": 1e-7, "nothing": None}], "signs": "\u0000\u2028\\ 🍜", "great": 2**70}
    keep(worker, subject(anna), Put(NOTES, "k", {}))
    keep(worker, subject(anna), Put(NOTES, "k", value), now=NOW + timedelta(minutes=1))
    [got] = read_items(None, subject(anna), [Get(NOTES, "k")], worker.context, now=NOW)
    assert isinstance(got, Scored)
    assert got.item.value == value
    assert (got.item.created_at, got.item.updated_at) == (NOW, NOW + timedelta(minutes=1))


def test_a_query_finds_by_meaning_and_what_has_none_comes_last(worker: Worker, anna: str) -> None:
    keep(worker, subject(anna), VIOLIN, VEGAN, Put(NOTES, "hidden", {"text": "meat"}))
    hits = found(worker, subject(anna), Search((), "Which instrument does she play?"))
    assert [hit.item.key for hit in hits] == ["violin", "vegan", "hidden"]
    assert [hit.score is None for hit in hits] == [False, False, True]
    assert keys(worker, subject(anna), Search(NOTES, "Which instrument does she play?", limit=1)) == ["vegan"]


def test_no_prefix_crosses_a_label(worker: Worker, anna: str) -> None:
    keep(worker, subject(anna), Put(("t", "acme"), "ours", {}), Put(("t", "acme-corp"), "theirs", {}))
    assert keys(worker, subject(anna), Search(("t", "acme"))) == ["ours"]
    matching = ListNamespaces((NamespaceMatch("prefix", ("t", "acme")),))
    assert read_items(None, subject(anna), [matching], worker.context, now=NOW) == [[("t", "acme")]]
    assert keys(worker, subject(anna), Search(("t", "%"))) == []


def test_what_expired_is_gone_and_what_is_read_lives_on(worker: Worker, anna: str) -> None:
    later = NOW + timedelta(minutes=8)
    keep(worker, subject(anna), Put(NOTES, "short", {}, ttl_minutes=10), Put(NOTES, "read", {}, ttl_minutes=10))
    read_items(
        None, subject(anna), [Get(NOTES, "read"), Get(NOTES, "short", refreshes=False)], worker.context, now=later
    )
    past = NOW + timedelta(minutes=10)
    assert keys(worker, subject(anna), Search((), refreshes=False), now=past) == ["read"]
    assert clean_up(worker.context, past)["items"] == 1
    assert clean_up(worker.context, past + timedelta(minutes=8))["items"] == 1


def test_only_who_shares_a_subject_reads_and_only_who_may_write_writes(worker: Worker, anna: str) -> None:
    def who(user: str | None, *can: Capability) -> Principal:
        return Principal(tenant_id="acme", user_id=user, capabilities=frozenset(can), key_id="key_1")

    whose = subject(anna)
    write_items(who(anna, Capability.READ, Capability.WRITE), whose, [VEGAN], worker.context, now=NOW)
    with pytest.raises(NotAllowed):
        write_items(who(anna, Capability.READ), whose, [VEGAN], worker.context, now=NOW)
    with pytest.raises(NotAMember):
        read_items(who("mallory", Capability.READ), whose, [Search(())], worker.context, now=NOW)
    [hits] = read_items(who(None, Capability.READ), whose, [Search(())], worker.context, now=NOW)
    assert hits


def test_without_consent_nothing_is_kept_and_all_can_be_deleted(worker: Worker, anna: str) -> None:
    from memory.statement_screening import NotKept

    keep(worker, subject(anna), VEGAN)
    withdrawn = Preference(name=PreferenceName.CONSENT, value="withdrawn")
    set_preference(subject(anna), withdrawn, worker.context, by="anna", now=NOW)
    with pytest.raises(NotKept):
        keep(worker, subject(anna), VIOLIN)
    keep(worker, subject(anna), Put(VEGAN.namespace, VEGAN.key, None))
    assert value_of(worker, subject(anna), VEGAN) is None


def test_items_leave_with_an_export_and_are_found_where_they_are_imported(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    keep(worker, whose, VEGAN, VIOLIN)
    lines = list(export(worker.context, subject=whose))
    erased = erase_subject(whose, worker.context, by="anna", now=NOW)
    assert erased.removed["catalog: items"] == 2
    assert erased.is_clean
    assert keys(worker, whose, Search(())) == []
    assert import_lines(lines, worker.context, by="dora", now=NOW).items == 2
    again = import_lines(lines, worker.context, by="dora", now=NOW)
    assert (again.items, again.known_items) == (0, 2)
    assert keys(worker, whose, Search((), "Which instrument does she play?")) == ["violin", "vegan"]
    [hit, _] = found(worker, whose, Search((), "Which instrument does she play?"))
    assert hit.score is not None


def test_a_put_is_done_only_while_what_is_there_is_what_it_was_read_as(worker: Worker, anna: str) -> None:
    whose, fish = subject(anna), {"text": "Anna eats fish"}
    new, absent = replace(VEGAN, if_absent=True), replace(VEGAN, value=fish, if_match=frozenset({"*"}))
    for never in (absent, replace(absent, if_absent=True)):
        with pytest.raises(Outdated, match="changed or deleted"):
            keep(worker, whose, VIOLIN, never)
    assert value_of(worker, whose, VIOLIN) is None, "all or none"
    keep(worker, whose, new)
    with pytest.raises(Outdated, match="read it"):
        keep(worker, whose, VIOLIN, new)
    [got] = read_items(None, whose, [Get(VEGAN.namespace, VEGAN.key)], worker.context, now=NOW)
    assert isinstance(got, Scored)
    by_etag = replace(VEGAN, value=fish, if_match=frozenset({got.item.etag}))
    keep(worker, whose, by_etag)
    for stale in (by_etag, replace(by_etag, value=None)):
        with pytest.raises(Outdated, match="changed or deleted"):
            keep(worker, whose, stale)
    assert value_of(worker, whose, VEGAN) == fish
    keep(worker, whose, replace(VEGAN, value=None, if_match=frozenset({"*"})))
    assert value_of(worker, whose, VEGAN) is None
    keep(worker, whose, replace(new, ttl_minutes=1))
    keep(worker, whose, new, now=NOW + timedelta(minutes=2))


@pytest.mark.parametrize(
    "worker", ["sqlite", pytest.param("postgres", marks=pytest.mark.long)], indirect=True, scope="module"
)
def test_of_those_who_put_one_item_at_once_one_succeeds(worker: Worker, anna: str) -> None:
    whose, done = subject(anna), []

    def put(number: int) -> None:
        try:
            keep(worker, whose, Put(NOTES, "k", {"by": number}, if_absent=True))
        except Outdated:
            return
        done.append({"by": number})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(put, range(8)))
    assert done == [value_of(worker, whose, Put(NOTES, "k", None))]


def test_a_user_has_as_many_items_as_the_setting_allows_and_may_change_and_delete_them(
    worker: Worker, anna: str
) -> None:
    bounded = worker.with_parts(settings=worker.context.settings.model_copy(update={"quota_user_items": 1}))
    keep(bounded, subject(anna), VEGAN)
    with pytest.raises(QuotaExceeded, match="AFTERTURN_QUOTA_USER_ITEMS"):
        keep(bounded, subject(anna), VIOLIN)
    assert value_of(bounded, subject(anna), VIOLIN) is None
    keep(bounded, subject(anna), Put(NOTES, "vegan", {"text": "Anna eats fish"}))
    keep(bounded, subject(anna), Put(NOTES, "vegan", None))
    keep(bounded, subject(anna), VIOLIN)
    assert value_of(bounded, subject(anna), VIOLIN) == VIOLIN.value
