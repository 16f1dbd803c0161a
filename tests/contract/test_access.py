"""Keys and memberships, on every database."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Engine, text

from memory.keys import issue, principal_of, revoke, rotate
from memory.members import membership_of, remove_member, set_member
from schema import AuditAction, AuditEntry, Capability, MemberRole, Principal, Scope, Subject, Tombstone
from stores.catalog import Catalog
from tests.contract.catalogs import ANNA, NAMESAKE, NOW

ARCHIVE = Subject(tenant_id="acme", subject_id="legacy-of-rose")


def test_a_key_stands_for_whom_it_was_made_for(catalog: Catalog) -> None:
    issued = issue("coach", "acme", [Capability.READ], catalog, by="dora", now=NOW, user_id="anna", agent_id="coach")
    assert principal_of(issued.secret, catalog, now=NOW) == Principal(
        tenant_id="acme",
        user_id="anna",
        agent_id="coach",
        capabilities=frozenset({Capability.READ}),
        key_id=issued.key.id,
    )


def test_the_catalog_does_not_hold_a_key_that_opens_anything(catalog: Catalog, engine: Engine) -> None:
    issued = issue("backend", "acme", [Capability.READ], catalog, by="dora", now=NOW)
    with engine.connect() as connection:
        assert issued.secret not in str(connection.execute(text("SELECT * FROM api_keys")).all())


def test_an_unknown_key_stands_for_nobody(catalog: Catalog) -> None:
    issued = issue("backend", "acme", [Capability.READ], catalog, by="dora", now=NOW)
    assert principal_of(issued.secret + "x", catalog, now=NOW) is None
    assert principal_of("", catalog, now=NOW) is None
    assert principal_of(issued.key.id, catalog, now=NOW) is None


def test_an_expired_key_stands_for_nobody(catalog: Catalog) -> None:
    end = NOW + timedelta(days=1)
    issued = issue("backend", "acme", [Capability.READ], catalog, by="dora", now=NOW, expires_at=end)
    assert principal_of(issued.secret, catalog, now=end - timedelta(seconds=1)) is not None
    assert principal_of(issued.secret, catalog, now=end) is None


def test_a_revoked_key_stands_for_nobody_from_that_moment_on(catalog: Catalog) -> None:
    issued = issue("backend", "acme", [Capability.READ], catalog, by="dora", now=NOW)
    revoke(issued.key.id, catalog, now=NOW)
    assert principal_of(issued.secret, catalog, now=NOW) is None


def test_a_rotated_key_may_what_the_old_one_may_and_the_old_one_ends_later(catalog: Catalog) -> None:
    old = issue("backend", "acme", [Capability.READ, Capability.ACT_AS], catalog, by="dora", now=NOW)
    new = rotate(old.key.id, timedelta(hours=1), catalog, by="dora", now=NOW)
    later = NOW + timedelta(hours=1)
    assert new.key.capabilities == old.key.capabilities
    assert principal_of(old.secret, catalog, now=NOW) is not None
    assert principal_of(old.secret, catalog, now=later) is None
    assert principal_of(new.secret, catalog, now=later) is not None


def test_who_asks_stays_the_same_however_often_the_key_is_rotated_and_is_nobody_else(catalog: Catalog) -> None:
    first = issue("backend", "acme", [Capability.READ], catalog, by="dora", now=NOW)
    twin = issue("backend", "acme", [Capability.READ], catalog, by="dora", now=NOW)
    second = rotate(first.key.id, timedelta(hours=1), catalog, by="dora", now=NOW)
    third = rotate(second.key.id, timedelta(hours=1), catalog, by="dora", now=NOW)
    who = [
        principal.who
        for one in (first, second, third, twin)
        if (principal := principal_of(one.secret, catalog, now=NOW))
    ]
    assert who[0] == who[1] == who[2]
    assert len(who) == 4
    assert who[3] != who[0]


def test_a_key_says_when_it_was_used_last(catalog: Catalog) -> None:
    issued = issue("backend", "acme", [Capability.READ], catalog, by="dora", now=NOW)
    principal_of(issued.secret, catalog, now=NOW + timedelta(days=2))
    assert [key.last_used_at for key in catalog.keys.all("acme")] == [NOW + timedelta(days=2)]


def test_keys_are_listed_by_tenant(catalog: Catalog) -> None:
    mine = issue("a", "acme", [], catalog, by="dora", now=NOW)
    theirs = issue("b", "globex", [], catalog, by="dora", now=NOW + timedelta(seconds=1))
    assert [key.id for key in catalog.keys.all("acme")] == [mine.key.id]
    assert [key.id for key in catalog.keys.all()] == [mine.key.id, theirs.key.id]


def member_of(catalog: Catalog, user_id: str, tenant_id: str = "acme") -> MemberRole | None:
    return membership_of(Principal(tenant_id=tenant_id, user_id=user_id, key_id="k"), ARCHIVE, catalog)


def test_a_membership_is_what_was_said_last_and_until_it_is_taken_away(catalog: Catalog) -> None:
    for role in (MemberRole.PENDING, MemberRole.ADMIRER):
        set_member(ARCHIVE, "anna", role, catalog, by="dora", now=NOW, policy_version="p")
    assert member_of(catalog, "anna") is MemberRole.ADMIRER
    assert member_of(catalog, "bert") is None
    assert member_of(catalog, "anna", "globex") is None
    remove_member(ARCHIVE, "anna", catalog, by="dora", now=NOW, policy_version="p")
    assert member_of(catalog, "anna") is None
    assert catalog.count_audit() == {AuditAction.MEMBERSHIP: 3}


def test_what_gives_an_erased_user_a_right_goes_with_them(catalog: Catalog) -> None:
    set_member(ARCHIVE, "anna", MemberRole.ADMIN, catalog, by="dora", now=NOW, policy_version="p")
    hers = issue("hers", "acme", [Capability.READ], catalog, by="dora", now=NOW, user_id="anna")
    namesakes = issue("b", "globex", [Capability.READ], catalog, by="dora", now=NOW, user_id="anna")
    line = AuditEntry(action=AuditAction.ERASED, **ANNA.model_dump(), at=NOW, by="dora", reason="r", policy_version="p")
    tombstone = Tombstone(scope=Scope.SUBJECT, key="", at=NOW)
    removed, _ = catalog.erasures.wipe(ANNA, 1, [tombstone], line)
    assert (removed["memberships"], removed["api_keys"]) == (1, 1)
    assert member_of(catalog, "anna") is None
    assert principal_of(hers.secret, catalog, now=NOW) is None
    assert principal_of(namesakes.secret, catalog, now=NOW) is not None
    left = catalog.erasures.count_left(ANNA)
    assert (left["memberships"], left["api_keys"]) == (0, 0)
    assert NAMESAKE.subject_id == ANNA.subject_id
