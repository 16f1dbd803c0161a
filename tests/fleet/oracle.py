"""An extractor and its language model for tests: what comes of a turn is known before, what goes wrong is told.

A turn that says "fact home v0007 of maya" makes one memory: maya's home is v0007. The model takes time like a real
one, notes when each call began and ended, and fails in the ways that a file asks for. Workers load both as plug-ins.
"""

from __future__ import annotations

import functools
import json
import os
import random
import re
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from schema import AdmittedTurn, Candidate, Context, Extraction, Fact, Kind, MemoryType
from schema.errors import LLMThrottled, LLMUnavailable
from schema.settings import Settings
from stores.embedding.base import Vectors
from stores.embedding.minilm import MiniLM
from stores.index.base import Vector
from stores.llm import LLM, Reply

SENTENCES = {
    "home": ("Personal", "The user lives in {}."),
    "employer": ("Finance", "The user works at {} as a nurse."),
    "pet": ("Goals", "The user has a dog called {}."),
}
"""What each attribute's memories are about: so different that none is taken for another's."""
KILL = "poison"
"""A value over which the process of the model's caller dies."""

_SAID = re.compile(r"^fact (\w+) (\w+) of (\w+)$", re.MULTILINE)
_LINE = re.compile(r"^turn (\S+): fact (\w+) (\w+) of (\w+)$", re.MULTILINE)
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Faults:
    """How the model is: how long a call takes, in seconds; what share of calls is throttled or answered with a
    truncated text; whether calls hang until they time out or the fault is over; what they leave in memory."""

    fastest: float = 0.05
    slowest: float = 0.3
    throttled: float = 0.0
    garbage: float = 0.0
    hangs: bool = False
    leaks: int = 0
    """Bytes that each call leaves behind in its process for good."""


@dataclass(frozen=True)
class Call:
    """One call of the model, as it was noted. `end` is None where the process did not live to see it."""

    process: int
    subject: str
    turns: tuple[str, ...]
    start: float
    end: float | None


@dataclass(frozen=True)
class Notes:
    """The folder over which tests and models speak: faults one way, calls the other."""

    folder: Path

    def ask_for(self, faults: Faults) -> None:
        """Make all models be so from now on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        written = self.folder / "faults.new"
        written.write_text(json.dumps(asdict(faults)))
        written.replace(self.folder / "faults.json")

    def faults(self) -> Faults:
        path = self.folder / "faults.json"
        return Faults(**json.loads(path.read_text())) if path.exists() else Faults()

    def note(self, **what: Any) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{os.getpid()}.calls").open("ab", buffering=0) as calls:
            # The end of a line comes first: where there is room for no more than that, nothing half is left.
            calls.write(b"\n" + json.dumps(what | {"at": time.monotonic()}).encode())

    def calls(self) -> list[Call]:
        """All calls that were made, in the order in which they began."""
        found = [call for path in self.folder.glob("*.calls") for call in _calls(path)]
        return sorted(found, key=lambda call: call.start)


def _calls(path: Path) -> Iterator[Call]:
    begun, ended = {}, {}
    for note in map(json.loads, filter(None, path.read_text().splitlines())):
        if "ends" in note:
            ended[note["ends"]] = note["at"]
        else:
            begun[note["begins"]] = note
    for id_, note in begun.items():
        yield Call(int(path.stem), note["subject"], tuple(note["turns"]), note["at"], ended.get(id_))


def notes_of(settings: Settings) -> Notes:
    return Notes(settings.data_dir.absolute() / "oracle")


class Told(BaseModel):
    """One fact of an answer."""

    turn_id: str
    attribute: str
    value: str
    entity: str


class Answer(BaseModel):
    """What the model is asked for."""

    facts: list[Told]


class OracleModel:
    """A provider that reads facts out of its prompt."""

    name = "oracle"

    def __init__(self, settings: Settings) -> None:
        self._notes = notes_of(settings)
        self._timeout = settings.llm_timeout_seconds
        self._left: list[bytes] = []

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        lines = _LINE.findall(prompt)
        begun = f"{random.getrandbits(64):x}"
        subject = prompt.partition("\n")[0]
        self._notes.note(begins=begun, subject=subject, turns=[turn_id for turn_id, *_ in lines])
        try:
            return self._answer(lines)
        finally:
            self._notes.note(ends=begun)

    def _answer(self, lines: list[tuple[str, str, str, str]]) -> Reply:
        faults = self._notes.faults()
        time.sleep(random.uniform(faults.fastest, faults.slowest))
        # Not zeros: those have no page of their own before somebody writes there.
        self._left.append(random.randbytes(faults.leaks))
        if any(value == KILL for _, _, value, _ in lines):
            os.kill(os.getpid(), signal.SIGKILL)
        deadline = time.monotonic() + self._timeout
        while self._notes.faults().hangs:
            if time.monotonic() > deadline:
                raise LLMUnavailable("no answer in time")
            time.sleep(_POLL_SECONDS)
        if random.random() < faults.throttled:
            raise LLMThrottled("throttled")
        facts = [Told(turn_id=turn, attribute=name, value=value, entity=who) for turn, name, value, who in lines]
        text = Answer(facts=facts).model_dump_json()
        if random.random() < faults.garbage:
            text = text[: len(text) // 2]
        return Reply(text, prompt_tokens=len(lines), completion_tokens=len(lines))


class OracleExtractor:
    """Asks the model once for all turns of a batch."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def prepare(self) -> None: ...

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        by_id = {one.turn.turn_id: one.turn for one in turns}
        subject = turns[0].turn.subject
        lines = [
            f"turn {turn_id}: fact {' '.join(said.group(1, 2))} of {said[3]}"
            for turn_id, turn in by_id.items()
            for said in _SAID.finditer(turn.text_of("user"))
        ]
        answer = self._llm.complete("\n".join([subject.key, *lines]), Answer).answer
        return Extraction(
            items=tuple(candidate(told, by_id[told.turn_id].occurred_at.isoformat()) for told in answer.facts),
            model=self._llm.name,
        )


def candidate(told: Told, occurred_at: str) -> Candidate:
    """The memory that is proposed for a fact."""
    category, sentence = SENTENCES[told.attribute]
    return Candidate.model_validate(
        {
            "turn_id": told.turn_id,
            "ordinal": 0,
            "type": MemoryType.SEMANTIC,
            "kind": Kind.USER_FACT,
            "category": category,
            "summary": sentence.format(told.value),
            "facts": [Fact(entity=told.entity, verb="is", object=told.value, attribute=told.attribute)],
            "source": "chat",
            "confidence": 0.9,
            "occurred_at": occurred_at,
            "said_at": occurred_at,
            "explicit": True,
        }
    )


def open_model(settings: Settings) -> OracleModel:
    """For AFTERTURN_LLM."""
    return OracleModel(settings)


def open_extractor(settings: Settings, llm: LLM | None) -> OracleExtractor:
    """For AFTERTURN_EXTRACTOR. Texts that were embedded before are not embedded again, which real workers would do:
    what is proved here is not the embedder, and the vectors are its own."""
    assert llm is not None, "AFTERTURN_LLM must be the oracle's model"
    real, embed = MiniLM(), MiniLM.embed

    @functools.lru_cache(maxsize=10_000)
    def vector(text: str) -> Vector:
        return np.asarray(embed(real, [text])[0])

    def remembered(_self: MiniLM, texts: Sequence[str]) -> Vectors:
        return np.stack([vector(text) for text in texts])

    MiniLM.embed = remembered  # type: ignore[method-assign,assignment]
    return OracleExtractor(llm)
