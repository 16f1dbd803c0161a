"""What staff look through: complete page by page, of their tenant alone, on every database."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from schema import AuditAction, AuditEntry, MemberRole, Membership, Scope, Status, Subject, Tombstone
from stores.catalog import Catalog, Changes
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory


def a_line(subject: Subject, by: str, minutes: int = 0, action: AuditAction = AuditAction.VIEWED) -> AuditEntry:
    at = NOW + timedelta(minutes=minutes)
    return AuditEntry(action=action, **subject.model_dump(), at=at, by=by, reason="looked", policy_version="1")


def test_subjects_are_listed_by_their_ids_with_what_is_known(catalog: Catalog) -> None:
    odd = Subject(tenant_id="acme", subject_id="an_na%")
    for subject in (ANNA, BERT, NAMESAKE, odd):
        catalog.commit(Changes(subject=subject, at=NOW, created=(a_memory("t1", subject),)))
    old = a_memory("t2").model_copy(update={"status": Status.ARCHIVED})
    catalog.commit(Changes(subject=ANNA, at=NOW, created=(old,)))
    first = catalog.registry.subjects("acme", limit=2)
    rest = catalog.registry.subjects("acme", after=first[-1].subject.subject_id)
    assert {row.subject for row in (*first, *rest)} == {ANNA, BERT, odd}
    assert len(first) + len(rest) == 3
    [anna] = [row for row in (*first, *rest) if row.subject == ANNA]
    assert dict(anna.counts) == {Status.ACTIVE: 1, Status.ARCHIVED: 1}
    assert [row.subject for row in catalog.registry.subjects("acme", begins="an_")] == [odd]
    assert [row.subject for row in catalog.registry.subjects("acme", begins="b")] == [BERT]
    assert catalog.registry.subjects("acme", begins="B") == []
    assert catalog.registry.knows(ANNA)
    assert not catalog.registry.knows(Subject(tenant_id="globex", subject_id="bert"))


def test_the_audit_is_filtered_and_goes_on_behind_the_last_line(catalog: Catalog) -> None:
    for minutes in range(5):
        catalog.registry.note(a_line(ANNA, "staff:ann", minutes))
    catalog.registry.note(a_line(BERT, "staff:bo", 9, AuditAction.HELD))
    catalog.registry.note(a_line(NAMESAKE, "staff:ann"))
    found, before = [], None
    while page := catalog.registry.audit("acme", before=before, limit=4):
        found += page
        before = page[-1].id
    assert [row.entry.at for row in found] == sorted((row.entry.at for row in found), reverse=True)
    assert len(found) == 6
    assert len(catalog.registry.audit("acme", subject_id="anna", by="staff:a", action=AuditAction.VIEWED)) == 5
    assert catalog.registry.audit("acme", by="Staff:a") == []
    asked = catalog.registry.audit("acme", since=NOW + timedelta(minutes=2), until=NOW + timedelta(minutes=4))
    assert [row.entry.at.minute for row in asked] == [3, 2]


def test_holds_members_and_erasures_are_those_of_the_tenant(catalog: Catalog) -> None:
    for subject in (ANNA, BERT, NAMESAKE):
        held = a_memory("t1", subject).model_copy(update={"legal_hold": True})
        catalog.commit(Changes(subject=subject, at=NOW, created=(held,)))
        one = Membership(subject=subject, user_id="carla", role=MemberRole.ADMIRER, since=NOW, by="x")
        catalog.members.set(one, a_line(subject, "x"))
        catalog.commit(Changes(subject=subject, at=NOW, tombstones=(Tombstone(Scope.TURN, "t9", NOW),)))
    registry = catalog.registry
    [first] = registry.holds("acme", limit=1)
    [second] = registry.holds("acme", after=(first.subject_id, first.id))
    assert [first.subject, second.subject] == [ANNA, BERT]
    [member] = registry.members("acme", limit=1)
    [other] = registry.members("acme", after=(member.subject.subject_id, member.user_id))
    assert [member.subject, other.subject] == [ANNA, BERT]
    [last] = registry.erasures("acme", limit=1)
    [before] = registry.erasures("acme", before=last.position)
    assert {last.subject, before.subject} == {ANNA, BERT}
    assert [dataclasses.astuple(row)[1:3] for row in registry.erasures("acme", subject_id="anna")] == [
        (Scope.TURN, "t9")
    ]
