"""What every index promises to somebody who may see a part of what lies in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policies.access import may_see, seen_by
from schema import Capability, Labels, MemberRole, Principal, Seen, Visibility
from stores.index.base import Index, Where
from tests.contract.indexes import ANA, entry, numbers, unit

LABELS = [
    Labels(visibility, author_id, agent_id)
    for visibility in Visibility
    for author_id in (None, "zoë", "zoë ")
    for agent_id in (None, "one")
]
SUBJECTS_OWN = Principal(tenant_id="acme", user_id="ana", capabilities=frozenset({Capability.READ}), key_id="k")
ANOTHERS = SUBJECTS_OWN.model_copy(update={"user_id": "zoë"})
NOBODYS = SUBJECTS_OWN.model_copy(update={"user_id": None})


@pytest.mark.parametrize("agent_id", [None, "one"])
@pytest.mark.parametrize(
    ("principal", "role"),
    [(SUBJECTS_OWN, MemberRole.CREATOR), (NOBODYS, None)]
    + [(ANOTHERS, role) for role in MemberRole if role is not MemberRole.PENDING],
)
def test_a_query_finds_what_its_principal_may_see_and_nothing_else(
    index: Index, principal: Principal, role: MemberRole | None, agent_id: str | None
) -> None:
    index.upsert(
        [
            replace(
                entry(number=number),
                visibility=labels.visibility,
                author_id=labels.author_id,
                agent_id=labels.agent_id,
            )
            for number, labels in enumerate(LABELS)
        ]
    )
    seen = seen_by(principal.model_copy(update={"agent_id": agent_id}), role, ANA)

    hits = index.query(unit(1), Where(ANA, seen_by=seen), len(LABELS))

    assert numbers(hits) == [number for number, labels in enumerate(LABELS) if may_see(seen, labels)]


def test_what_may_not_be_seen_takes_no_place_of_what_may(index: Index) -> None:
    hidden = [replace(entry(number=n), visibility=Visibility.INDIVIDUAL, agent_id="other") for n in range(50)]
    index.upsert([*hidden, entry(number=50, vector=unit(0, 1))])

    assert numbers(index.query(unit(1), Where(ANA, seen_by=(Seen((Visibility.PRIVATE,)),)), 1)) == [50]
