"""A language model that answers what was written down for it: so any model's answers can be measured again without it.

A folder holds `prompts/HASH.txt`, each prompt that is without an answer, and `*.jsonl` with the answers, a line each:
{"prompt": HASH, "answer": {...}}. What a later prompt says depends on earlier answers, so recording goes in rounds: a
case goes on as far as its prompts are answered, and the first that is not is written down.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from schema.settings import Settings
from stores.llm import Reply
from stores.llm.schema import characters_sent

FOLDER: Final = "EVERYDAY_LLM_FOLDER"
MODE: Final = "EVERYDAY_LLM_MODE"
_ASKED: Final = "asked.log"
_NAME_CHARS: Final = 16


class Unanswered(Exception):
    """Nobody has answered this prompt yet. The message is its name."""


def name_of(prompt: str) -> str:
    """Return what a prompt is called: the same for the same text, for ever."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:_NAME_CHARS]


def read_answers(folder: Path) -> dict[str, Any]:
    """Return the answers of a folder by the names of their prompts; of two to one prompt the later one stands.

    Raises:
        ValueError: a line is no answer; it says which.
    """
    answers: dict[str, Any] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                try:
                    row = json.loads(line)
                    answers[row["prompt"]] = row["answer"]
                except (KeyError, TypeError, json.JSONDecodeError) as error:
                    raise ValueError(f"{file}, line {number} is no answer to a prompt: {error!r}") from error
    return answers


class RecordedProvider:
    """Answers from a folder; with `record`, writes down there what it cannot answer."""

    name = "recorded"

    def __init__(self, folder: Path, *, record: bool) -> None:
        self._folder = folder
        self._answers = read_answers(folder)
        self._record = record

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        """Return the answer that was written down.

        Raises:
            Unanswered: there is none.
        """
        name, size = name_of(prompt), characters_sent(prompt, schema)
        _append(self._folder / _ASKED, f"{name},{size}\n")
        if name not in self._answers:
            if self._record:
                prompts = self._folder / "prompts"
                prompts.mkdir(exist_ok=True)
                (prompts / f"{name}.txt").write_text(prompt, encoding="utf-8")
            raise Unanswered(name)
        answer = self._answers[name]
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return Reply(text, prompt_tokens=size // 4, completion_tokens=len(text) // 4)


def open_provider(_settings: Settings) -> RecordedProvider:
    """Open the model that `use` named, in whichever process."""
    return RecordedProvider(Path(os.environ[FOLDER]), record=os.environ[MODE] == "record")


def use(folder: Path, *, record: bool) -> None:
    """Have the settings of this process, and of those that it starts, name the answers of a folder as the model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _ASKED).unlink(missing_ok=True)
    for old in (folder / "prompts").glob("*.txt") if record else ():
        old.unlink()
    os.environ |= {
        FOLDER: str(folder.resolve()),
        MODE: "record" if record else "replay",
        "AFTERTURN_EXTRACTOR": "llm",
        "AFTERTURN_LLM": f"{__name__}:open_provider",
    }


def sizes(folder: Path) -> Iterator[int]:
    """Return how many characters were sent in each call of the last run."""
    log = folder / _ASKED
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        yield int(line.partition(",")[2])


def _append(file: Path, line: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, line.encode())
    os.close(descriptor)
