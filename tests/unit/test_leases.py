"""While a lease may be lost, no model is asked: another worker may be asking it already."""

from __future__ import annotations

import math

import fakeredis
import pytest

from memory.leases import LeaseKeeper
from schema import Subject
from schema.errors import BrokerFailed, LeaseLost
from stores.llm.cancellation import ensure_wanted
from stores.mailbox import Mailbox
from tests.fleet.fleet import wait_until

ANNA = Subject(tenant_id="acme", subject_id="anna")
LEASE_SECONDS = 0.6


@pytest.fixture
def mailbox() -> Mailbox:
    redis = fakeredis.FakeRedis(server=fakeredis.FakeServer(), version=(7,))
    return Mailbox(redis, notify=lambda _subject: None, slots=100)


def is_refused() -> bool:
    try:
        ensure_wanted()
    except LeaseLost:
        return True
    return False


def test_a_model_is_asked_no_more_when_the_lease_cannot_be_renewed(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = mailbox.acquire_lease(ANNA, LEASE_SECONDS)
    assert lease is not None

    def away(*_: object) -> bool:
        raise BrokerFailed("it does not answer")

    monkeypatch.setattr(mailbox, "renew", away)
    keeper = LeaseKeeper(mailbox, LEASE_SECONDS, math.inf)
    with keeper.keeping(lease):
        wait_until(is_refused, "no model is asked", 30)
    ensure_wanted()
    keeper.stop()


def test_what_is_given_back_is_free_at_once_and_no_model_is_asked_for_it_any_more(mailbox: Mailbox) -> None:
    lease = mailbox.acquire_lease(ANNA, 60)
    assert lease is not None
    keeper = LeaseKeeper(mailbox, 60, math.inf)
    with keeper.keeping(lease):
        assert mailbox.acquire_lease(ANNA, 60) is None
        assert keeper.give_back() == 1
        assert is_refused()
        assert mailbox.acquire_lease(ANNA, 60) is not None
    assert keeper.give_back() == 0
    keeper.stop()
