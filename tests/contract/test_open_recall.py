"""The ways out in process: what they tell, what they change, and who is said to have done it."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from memory.edits import Verb
from memory.members import set_member
from recall import AsyncRecall, Edit, Recall, Statement, open_recall
from schema import Capability, MemberRole, Principal, Status
from schema.errors import CatalogUnavailable, NotAllowed, NotAMember, NotFound
from schema.settings import Settings
from tests.contract.pipeline import Worker, only
from tests.turns import WHEN, subject


def test_what_is_changed_in_process_acts_at_once_and_says_who(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    with open_recall(worker.context.settings, by="ann") as recall:
        made = recall.remember(None, whose, Statement("The user lives in Porto.")).memory
        assert made is not None
        recall.edit(None, whose, made.id, Edit("The user lives in Lisbon."), version=made.version)
        assert [hit.memory.summary for hit in recall.search(None, [whose], "Where does she live?")] == [
            "The user lives in Lisbon."
        ]
        verbs: tuple[Verb, ...] = ("pin", "suppress", "unsuppress", "archive", "restore", "unpin")
        for verb in verbs:
            recall.apply(None, whose, made.id, verb)
        assert only(list(recall.list(None, whose).memories)).facts[0].object == "Lisbon"
        recall.forget(None, whose, made.id)
        with pytest.raises(NotFound):
            recall.get(None, whose, made.id)
    assert {line.by for line in worker.context.catalog.audit_of(whose, made.id)} == {"ann"}


def test_an_agent_asks_whether_something_may_be_said(worker: Worker, anna: str) -> None:
    worker.hear(anna, "Let's not talk about my divorce.")
    with open_recall(worker.context.settings) as recall:
        assert recall.avoided_topics_in(None, subject(anna), "How did the divorce go?") == ["divorce"]
        assert recall.avoided_topics_in(None, subject(anna), "How was the concert?") == []


def test_an_admirer_learns_of_no_topic_by_asking_what_may_be_said(worker: Worker, anna: str) -> None:
    worker.hear(anna, "Let's not talk about my divorce.")
    whose, may_read = subject(anna), frozenset({Capability.READ})
    asking = {}
    for role in (MemberRole.ADVOCATE, MemberRole.ADMIRER):
        set_member(whose, role, role, worker.context.catalog, by="ann", now=WHEN, policy_version="p")
        asking[role] = Principal(tenant_id="acme", user_id=role, capabilities=may_read, key_id="k")
    with open_recall(worker.context.settings) as recall:
        on_it, on_nothing = "How did the divorce go?", "How was the concert?"
        assert recall.avoided_topics_in(asking[MemberRole.ADVOCATE], whose, on_it) == ["divorce"]
        for text in (on_it, on_nothing):
            with pytest.raises(NotAMember):
                recall.avoided_topics_in(asking[MemberRole.ADMIRER], whose, text)


def test_what_is_awaited_is_what_is_called(worker: Worker, anna: str) -> None:
    whose = subject(anna)

    async def live() -> Status:
        async with AsyncRecall(open_recall(worker.context.settings)) as recall:
            made = (await recall.remember(None, whose, Statement("The user lives in Porto."))).memory
            assert made is not None
            assert (await recall.context(None, [whose], "Where does she live?")).used == (made.id,)
            return (await recall.apply(None, whose, made.id, "archive")).status

    assert asyncio.run(live()) is Status.ARCHIVED
    public = {name for name, _ in inspect.getmembers(Recall, inspect.isfunction) if not name.startswith("_")}
    assert public == {name for name, _ in inspect.getmembers(AsyncRecall, inspect.isfunction) if name[0] != "_"}


def test_a_principal_does_in_process_what_it_may_and_no_more(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon.")
    whose, memory = subject(anna), only(worker.known(subject(anna)))
    reader = Principal(
        tenant_id=whose.tenant_id, user_id=anna, capabilities=frozenset({Capability.READ}), key_id="key_1"
    )
    with open_recall(worker.context.settings) as recall:
        assert recall.get(reader, whose, memory.id).id == memory.id
        for act in (
            lambda: recall.remember(reader, whose, Statement("The user is vegan.")),
            lambda: recall.apply(reader, whose, memory.id, "pin"),
            lambda: recall.edit(reader, whose, memory.id, Edit("The user lives in Porto.")),
            lambda: recall.forget(reader, whose, memory.id),
        ):
            with pytest.raises(NotAllowed):
                act()


def test_who_only_asks_needs_no_broker_and_no_catalog_is_made(worker: Worker, anna: str, tmp_path: Path) -> None:
    worker.hear(anna, "I live in Lisbon.")
    away = worker.context.settings.model_copy(update={"broker_url": "redis://127.0.0.1:1/0"})
    with open_recall(away) as recall:
        assert recall.search(None, [subject(anna)], "Where does she live?")
    with pytest.raises(CatalogUnavailable):
        open_recall(Settings(data_dir=tmp_path / "none"))
    assert not (tmp_path / "none").exists()
