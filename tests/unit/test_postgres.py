"""What the refusals of a Postgres mean: which pass by themselves, and which a person must mend."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from stores.postgres import has_remedy, is_passing


@pytest.mark.parametrize(
    ("words", "needs_somebody"),
    [
        ("sorry, too many clients already", False),
        ("remaining connection slots are reserved for roles with the SUPERUSER attribute", False),
        ("the database system is starting up", False),
        ('password authentication failed for user "anna"', True),
        ('database "memories" does not exist', True),
        ('no pg_hba.conf entry for host "10.0.0.1"', True),
    ],
)
def test_a_server_that_lets_nobody_in_for_now_is_asked_again_and_one_that_never_will_needs_a_person(
    words: str, *, needs_somebody: bool
) -> None:
    error = OperationalError(None, None, psycopg.OperationalError(f"connection failed: FATAL:  {words}"))
    assert (is_passing(error), has_remedy(error)) == (True, needs_somebody)
