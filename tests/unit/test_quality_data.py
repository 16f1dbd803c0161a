from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer

import benchmarks.quality.data as data_folder
from benchmarks.quality.data import Question
from benchmarks.quality.report import goals_for, recall, scored

ROWS: dict[str, list[dict[str, Any]]] = {
    "locomo_turns": [
        {"conv": "c", "turn": "D1:1", "speaker": "Ada", "text": "I keep bees.", "when": "2024-01-02T08:00:00"},
        {"conv": "c", "turn": "D1:2", "speaker": "Ben", "text": "How many?", "when": "2024-01-02T10:00:00+02:00"},
    ],
    "locomo_queries": [
        {
            "conv": "c",
            "qid": "q1",
            "question": "What does Ada keep?",
            "category": "single-hop",
            "evidence": ["D1:1"],
            "asof": "2024-02-01T00:00:00",
        },
        {"conv": "c", "qid": "q2", "question": "?", "category": "adversarial", "evidence": None, "asof": "2024-02-01"},
    ],
    "msc_worth": [{"conv": "m", "turn": 0, "speaker": "a", "text": "I ski.", "prev": None, "label": 1}],
    "pairs": [{"ds": "x", "a": "Ada skis.", "b": "Ada swims.", "label": "different"}],
    "attack": [{"src": "x", "text": "Obey me.", "label": 1}],
    "pii": [{"text": "Call 555.", "spans": []}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, rows in ROWS.items():
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("\n\n".join(json.dumps(row) for row in rows) + "\n")
    return tmp_path


def test_every_file_of_the_folder_is_read(folder: Path) -> None:
    assert all(data_folder.missing(folder, part) == [] for part in data_folder.FILES)
    first, second = data_folder.utterances(folder)
    assert (first.turn, first.speaker, first.text) == ("D1:1", "Ada", "I keep bees.")
    assert first.when == second.when == datetime(2024, 1, 2, 8, 0, tzinfo=UTC)
    assert [question.evidence for question in data_folder.questions(folder)] == [("D1:1",), ()]
    assert [one.before for one in data_folder.labelled(folder)] == [""]
    assert [(pair.number, pair.a, pair.b) for pair in data_folder.pairs(folder)] == [(0, "Ada skis.", "Ada swims.")]
    assert [line.text for line in data_folder.lines(folder, "pii")] == ["Call 555."]


def test_a_folder_without_a_file_says_which(folder: Path) -> None:
    (folder / "locomo_queries.jsonl.gz").unlink()
    assert data_folder.missing(folder, "locomo") == ["locomo_queries.jsonl.gz"]
    assert data_folder.missing(folder, "msc") == []


def test_a_row_of_another_shape_is_named_by_its_line_and_not_by_its_text(folder: Path) -> None:
    with gzip.open(folder / "attack.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write('{"text": "fine"}\n{"words": "my secret"}\n')
    with pytest.raises(typer.BadParameter, match="line 2: no field 'text'") as refused:
        data_folder.lines(folder, "attack")
    assert "secret" not in str(refused.value)


def test_evidence_counts_once_and_only_from_the_first_turns_of_a_memory() -> None:
    question = Question("c", "q", "?", "multi-hop", ("t1", "t2", "t9"), datetime(2024, 1, 1, tzinfo=UTC))
    ranked = [["t1"], ["t1", "t2"], ["t3", "t4", "t5", "t9"]]
    assert [recall(question, ranked, k) for k in (1, 2, 3)] == pytest.approx([1 / 3, 2 / 3, 2 / 3])


def test_goals_go_with_what_was_scored() -> None:
    scores = {
        "pairs": {"sick/same": {"f1": 0.7}, "sick/contradictions_merged": 0.01, "other/same": {"f1": 0.1}},
        "attack": {"x/attack_stored": {"rate": 0.1, "n": 1}, "x/benign_flagged": {"rate": 0.0, "n": 1}},
        "pii": {"EMAIL_ADDRESS": {"leaked": 0.0, "n": 1}, "PERSON": {"leaked": 1.0, "n": 1}},
    }
    said = {goal.what: goal.met(figure) for goal in goals_for(scores) if (figure := goal.of(scores)) is not None}
    assert said == {
        "sick same-fact F1": False,
        "sick contradictions merged": True,
        "x attack stored": False,
        "x benign flagged": True,
        "EMAIL_ADDRESS leaked": True,
    }


def test_the_folders_own_scorer_is_asked(tmp_path: Path) -> None:
    assert scored(tmp_path, tmp_path) is None
    (tmp_path / "score.py").write_text('import json, sys; print(json.dumps({"data": sys.argv[1], "out": sys.argv[2]}))')
    assert scored(tmp_path, tmp_path / "out") == {"data": str(tmp_path), "out": str(tmp_path / "out")}
    (tmp_path / "score.py").write_text("raise SystemExit('broken')")
    with pytest.raises(RuntimeError, match="broken"):
        scored(tmp_path, tmp_path)
