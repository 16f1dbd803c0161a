"""Who may see and write what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.access import acting, may_see, may_write, role_in, seen_by
from schema import Capability, Labels, MemberRole, Principal, Subject, Visibility
from schema.errors import NotAllowed, NotAMember

ARCHIVE = Subject(tenant_id="acme", subject_id="legacy-of-rose")
PUBLIC, PRIVATE, PERSONAL, INDIVIDUAL = Visibility
EVERYTHING = [
    Labels(visibility, author, agent)
    for visibility in Visibility
    for author in ("maya", "tom")
    for agent in (None, "coach", "other")
]


def of(user: str | None = None, agent: str | None = None, *able: Capability, tenant: str = "acme") -> Principal:
    capabilities = frozenset(able) or frozenset({Capability.READ})
    return Principal(tenant_id=tenant, user_id=user, agent_id=agent, capabilities=capabilities, key_id="k")


def seen(principal: Principal, role: MemberRole | None) -> set[Labels]:
    covers = seen_by(principal, role, ARCHIVE)
    return {labels for labels in EVERYTHING if may_see(covers, labels)}


@pytest.mark.parametrize("role", [MemberRole.CREATOR, MemberRole.ADMIN, MemberRole.ADVOCATE])
def test_a_member_above_admirer_sees_what_is_shared_and_what_is_personal_to_them(role: MemberRole) -> None:
    assert seen(of("maya"), role) == {
        labels
        for labels in EVERYTHING
        if labels.visibility in {PUBLIC, PRIVATE} or (labels.visibility is PERSONAL and labels.author_id == "maya")
    }


def test_an_admirer_sees_what_is_public_and_what_is_personal_to_them() -> None:
    assert {labels.visibility for labels in seen(of("maya"), MemberRole.ADMIRER)} == {PUBLIC, PERSONAL}
    assert not any(
        labels.author_id == "tom" for labels in seen(of("maya"), MemberRole.ADMIRER) if labels.visibility is PERSONAL
    )


@pytest.mark.parametrize("role", [None, MemberRole.PENDING])
def test_who_is_no_member_is_refused_and_not_told_that_there_is_nothing(role: MemberRole | None) -> None:
    with pytest.raises(NotAMember):
        seen_by(of("maya"), role, ARCHIVE)


def test_an_agent_of_a_user_sees_what_its_user_sees_and_what_is_individual_to_it() -> None:
    beyond = seen(of("maya", "coach"), MemberRole.ADMIN) - seen(of("maya"), MemberRole.ADMIN)
    assert {(labels.visibility, labels.agent_id) for labels in beyond} == {(INDIVIDUAL, "coach")}


def test_an_agent_of_the_tenant_sees_what_is_shared_and_nothing_personal() -> None:
    assert {labels.visibility for labels in seen(of(None, "coach"), None)} == {PUBLIC, PRIVATE, INDIVIDUAL}
    assert all(
        labels.agent_id == "coach" for labels in seen(of(None, "coach"), None) if labels.visibility is INDIVIDUAL
    )


def test_a_user_is_the_creator_of_their_own_subject_without_a_membership() -> None:
    own = Subject(tenant_id="acme", subject_id="maya")
    assert role_in(of("maya"), own, None) is MemberRole.CREATOR
    assert role_in(of("tom"), own, None) is None


@given(
    user=st.sampled_from([None, "maya"]),
    agent=st.sampled_from([None, "coach"]),
    role=st.sampled_from([None, *MemberRole]),
    able=st.frozensets(st.sampled_from(list(Capability))),
)
def test_nobody_sees_or_writes_anything_of_another_tenant(
    user: str | None, agent: str | None, role: MemberRole | None, able: frozenset[Capability]
) -> None:
    stranger = of(user, agent, Capability.READ, *able, tenant="globex")
    with pytest.raises(NotAMember):
        seen_by(stranger, role, ARCHIVE)
    assert not any(may_write(stranger, role, ARCHIVE, labels) for labels in EVERYTHING)


@given(
    user=st.sampled_from([None, "maya"]),
    agent=st.sampled_from([None, "coach"]),
    role=st.sampled_from([None, *MemberRole]),
    able=st.frozensets(st.sampled_from(list(Capability))),
    labels=st.sampled_from(EVERYTHING),
)
def test_what_may_be_written_may_be_seen(
    user: str | None, agent: str | None, role: MemberRole | None, able: frozenset[Capability], labels: Labels
) -> None:
    principal = of(user, agent, *able) if able else of(user, agent)
    if may_write(principal, role, ARCHIVE, labels):
        assert may_see(seen_by(principal, role, ARCHIVE), labels)


def test_an_agent_with_write_own_writes_what_is_individual_to_it_and_nothing_else() -> None:
    coach = of("maya", "coach", Capability.READ, Capability.WRITE_OWN)
    writable = {labels for labels in EVERYTHING if may_write(coach, MemberRole.CREATOR, ARCHIVE, labels)}
    assert {(labels.visibility, labels.agent_id) for labels in writable} == {(INDIVIDUAL, "coach")}


def test_an_admirer_writes_what_is_personal_to_them_alone() -> None:
    admirer = of("maya", None, Capability.READ, Capability.WRITE)
    writable = {labels for labels in EVERYTHING if may_write(admirer, MemberRole.ADMIRER, ARCHIVE, labels)}
    assert {(labels.visibility, labels.author_id) for labels in writable} == {(PERSONAL, "maya")}


def test_who_may_not_read_is_told_which_capability_is_missing() -> None:
    with pytest.raises(NotAllowed, match="read"):
        seen_by(of("maya", None, Capability.TURNS), MemberRole.CREATOR, ARCHIVE)


def test_a_key_bound_to_nobody_names_whom_it_asks_for_where_it_may() -> None:
    backend = of(None, None, Capability.READ, Capability.ACT_AS)
    named = acting(backend, "maya", "coach")
    assert (named.user_id, named.agent_id) == ("maya", "coach")
    assert acting(of("maya"), "maya") == of("maya")
    for principal, user, agent in ((of(), "maya", None), (of("tom"), "maya", None), (of("maya"), None, "coach")):
        with pytest.raises(NotAllowed):
            acting(principal, user, agent)
