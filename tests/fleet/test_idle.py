"""What tests of the fleet wait for: that nothing is left to do anywhere, the producers' spool included."""

from __future__ import annotations

from contextlib import closing

from producers.spool import Spool
from schema import Turn
from tests.fleet.fleet import Fleet
from tests.turns import a_turn


def test_a_fleet_is_not_idle_while_a_turn_lies_in_the_spool_or_in_a_mailbox(fleet: Fleet) -> None:
    assert fleet.is_idle()
    with closing(Spool(fleet.settings.effective_spool_dir, max_turns=10, max_bytes=2**20)) as spool:
        with spool.locked():
            spool.put(Turn.model_validate(a_turn("anna", 1, "I have 1 cat.")), 5)
            assert fleet.mailbox.pending_subjects() == 0
            assert not fleet.is_idle()
        assert fleet.producer.flush(30) == 0
    assert fleet.mailbox.pending_subjects() == 1
    assert not fleet.is_idle()
