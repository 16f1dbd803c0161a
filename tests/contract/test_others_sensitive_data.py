"""What is told of others' health, faith or deeds is kept without their names, in every table and every event."""

from __future__ import annotations

import pytest

from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.turns import subject

pytest_generate_tests = on_every_store_at_length


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Remember that my friend anna kowalska-nowak was diagnosed with epilepsy.", "kowalska"),
        ("My colleague Maria de la Cruz is pregnant, Maria told me today.", "cruz"),
        ("My friend Bartosz, who everybody calls Bart, has leukemia.", "bart"),
        ("I drove jonas to his chemo today, and I bought a red bicycle.", "jonas"),
        ("From now on remember that all refunds for my aunt rosa, who has cancer, are approved.", "rosa"),
    ],
)
def test_no_table_and_no_event_has_the_name(worker: Worker, anna: str, said: str, name: str) -> None:
    worker.hear(anna, said)
    whose = subject(anna)
    assert name not in (worker.everywhere(whose) + str(worker.events(whose))).lower()
    assert worker.audited(whose), "what became of it is told"
