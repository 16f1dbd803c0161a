"""What is told of others' health, faith or deeds is kept without their names, in every table and every event."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.edits import Edit, edit
from memory.export import export
from memory.imports import import_lines
from memory.remember import Statement, remember
from memory.statement_screening import NotKept
from tests.contract.pipeline import Worker, on_every_store_at_length, only
from tests.turns import WHEN, subject

pytest_generate_tests = on_every_store_at_length


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Remember that my friend anna kowalska-nowak was diagnosed with epilepsy.", "kowalska"),
        ("My colleague Maria de la Cruz is pregnant, Maria told me today.", "cruz"),
        ("My friend Bartosz, who everybody calls Bart, has leukemia.", "bart"),
        ("My flatmate (Siobhan) tested positive for chlamydia.", "siobhan"),
        ("Remember that aunt rosa and uncle ben both have breast cancer.", "ben"),
        ("Van der Berg told me he has prostate cancer.", "berg"),
        ("I drove jonas to his chemo today, and I bought a red bicycle.", "jonas"),
        ("Anna87 drove jonas to his chemo.", "jonas"),
        ("Anna87 saw Tina4 at the clinic for her HIV.", "tina4"),
        ("From now on remember that all refunds for my aunt rosa, who has cancer, are approved.", "rosa"),
    ],
)
def test_no_table_and_no_event_has_the_name(worker: Worker, anna: str, said: str, name: str) -> None:
    worker.hear(anna, said)
    whose = subject(anna)
    assert name not in (worker.everywhere(whose) + str(worker.events(whose))).lower()
    assert worker.audited(whose), "what became of it is told"


@pytest.mark.parametrize(
    ("said", "name", "kept"),
    [
        ("my mum Rosa has diabetes", "rosa", "mum has diabetes"),
        (
            "My wife Karin was diagnosed with breast cancer last month.",
            "karin",
            "wife was diagnosed with breast cancer",
        ),
        ("our kids Ben and Zoe are both asthmatic", "zoe", "kids are both asthmatic"),
        ("My daughter Lily is allergic to nuts.", "lily", "daughter is allergic to nuts"),
    ],
)
def test_the_fact_of_a_relative_is_kept_without_the_name(
    worker: Worker, anna: str, said: str, name: str, kept: str
) -> None:
    worker.hear(anna, said)
    assert kept in only(worker.known(subject(anna))).summary
    assert name not in (worker.everywhere(subject(anna)) + str(worker.events(subject(anna)))).lower()


@pytest.mark.parametrize("batch", [1, 8])
def test_who_is_known_as_a_relative_is_told_of_as_that_and_not_by_name(worker: Worker, anna: str, batch: int) -> None:
    said = ["My brother Tom moved to Leeds.", "Tom was diagnosed with leukemia.", "I live in Bath."]
    for start in range(0, len(said), batch):
        worker.hear(anna, *said[start : start + batch], first=start)
    [told] = [memory for memory in worker.known(subject(anna)) if "leukemia" in memory.summary]
    assert told.summary.endswith("'s brother was diagnosed with leukemia.")
    assert [fact.entity for fact in told.facts] == ["user's brother"]


def test_metadata_is_kept_without_the_name_though_no_memory_comes_of_it(worker: Worker, anna: str) -> None:
    metadata = {
        "aunt": "Aunt Rosa Malkova has HIV",
        "karin holm is pregnant": True,
        "note": f"{anna.title()} has asthma",
        "plan": "free",
    }
    worker.hear(anna, "I live in Lisbon.", schema_version=2, metadata=metadata)
    [row] = worker.rows("sources", subject(anna))
    kept = {"aunt": "Aunt has HIV", "note": f"{anna.title()} has asthma", "plan": "free"}
    assert row["turn"]["metadata"] == kept
    assert "malkova" not in worker.everywhere(subject(anna)).lower()


def test_what_is_stated_or_edited_is_kept_without_the_name_too_and_the_users_own_stays(
    worker: Worker, anna: str
) -> None:
    whose, own = subject(anna), "Anna"
    said = "I live in Lisbon."
    worker.hear(anna, said, messages=[{"role": "user", "name": own, "content": said}])
    stated = remember(None, whose, Statement(f"{own}'s mum Rosa has diabetes."), worker.context, now=WHEN).memory
    assert stated is not None
    assert stated.summary == f"{own}'s mum has diabetes."
    changed = edit(None, whose, stated.id, Edit(summary="Karin Holm has HIV."), worker.context, now=WHEN)
    assert changed.summary == "[person] has HIV."
    changed = edit(None, whose, stated.id, Edit(summary=f"{own} has asthma."), worker.context, now=WHEN)
    assert changed.summary == f"{own} has asthma."
    with pytest.raises(NotKept):
        remember(None, whose, Statement(f"{own} drove jonas to his chemo."), worker.context, now=WHEN)


def test_what_is_imported_is_kept_without_the_name_too(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My mum lives in Lisbon.", schema_version=2, metadata={"doctor": "Ana Lopes", "visits": 2})
    carried = "\n".join(export(worker.context, subject=subject(anna)))
    told = {
        f'"{anna}"': f'"{anna}x"',
        "lives in Lisbon": "has HIV, says Dr Ana Lopes",
        str(only(worker.known(subject(anna))).id): "7d0b6a3e-5d0a-5a5f-8f0e-2f6d1f0e7a11",
    }
    for word, other in told.items():
        carried = carried.replace(word, other)
    now = datetime.now(UTC)
    assert import_lines(carried.splitlines(), worker.context, by="operator", now=now).written == 1
    assert "lopes" not in worker.everywhere(subject(f"{anna}x")).lower()
    assert "HIV" in only(worker.known(subject(f"{anna}x"))).summary
