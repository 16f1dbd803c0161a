"""A turn that says that it was said in the future would outlast all that is said until then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from producers import Accepted, InvalidTurn, Producer
from schema.settings import Settings
from tests.turns import a_turn


def test_a_turn_from_the_far_future_is_refused_and_one_of_tomorrow_is_taken(tmp_path: Path, broker_url: str) -> None:
    with Producer(Settings(broker_url=broker_url, data_dir=tmp_path)) as producer:
        now = datetime.now(UTC)
        with pytest.raises(InvalidTurn, match="AFTERTURN_MAX_AHEAD_SECONDS"):
            producer.enqueue(a_turn("zoe", 1, "I live in Oslo.") | {"occurred_at": "2099-01-01T00:00:00+00:00"})
        soon = (now + timedelta(hours=20)).isoformat()
        taken = producer.enqueue(a_turn("zoe", 2, "I live in Oslo.") | {"occurred_at": soon})
        assert taken in (Accepted.ADDED, Accepted.SPOOLED)
