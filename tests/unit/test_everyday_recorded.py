"""Answers of a language model that are written down, and the prompts that wait for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.everyday.recorded import RecordedProvider, Unanswered, name_of, read_answers, sizes
from stores.llm.schema import characters_sent

SCHEMA = {"type": "object", "properties": {"memories": {"type": "array", "title": "Memories"}}}


def test_a_prompt_without_an_answer_is_written_down_under_its_name_and_answered_from_then_on(tmp_path: Path) -> None:
    with pytest.raises(Unanswered, match=name_of("What is new?")):
        RecordedProvider(tmp_path, record=True).reply("What is new?", SCHEMA)
    [asked] = (tmp_path / "prompts").iterdir()
    assert (asked.stem, asked.read_text()) == (name_of("What is new?"), "What is new?")
    line = json.dumps({"prompt": asked.stem, "answer": {"memories": []}})
    (tmp_path / "round-1.jsonl").write_text(f"{line}\n")
    reply = RecordedProvider(tmp_path, record=False).reply("What is new?", SCHEMA)
    assert json.loads(reply.text) == {"memories": []}
    assert list(sizes(tmp_path)) == [characters_sent("What is new?", SCHEMA)] * 2


def test_a_replay_writes_no_prompt_down(tmp_path: Path) -> None:
    with pytest.raises(Unanswered):
        RecordedProvider(tmp_path, record=False).reply("What is new?", SCHEMA)
    assert not (tmp_path / "prompts").exists()


def test_the_schema_counts_as_it_is_sent() -> None:
    sent = '{"type":"object","properties":{"memories":{"type":"array"}}}'
    assert characters_sent("What is new?", SCHEMA) == len("What is new?") + len(sent)


def test_a_line_that_is_no_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "round-1.jsonl").write_text('\n{"prompt": "x"}\n')
    with pytest.raises(ValueError, match=r"round-1.jsonl, line 2"):
        read_answers(tmp_path)
