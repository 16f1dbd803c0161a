"""The oracle as a provider of the fleet: it answers the prompts that the fleet's own extractor and judge send."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from benchmarks.truth_oracle import Oracle, Throttled, kept_of
from benchmarks.truth_sayings import MEANING, SLOTS
from schema.errors import LLMThrottled
from schema.settings import Settings
from stores.llm import Reply
from stores.llm.schema import characters_sent

SECONDS, FAULTY, LOG = "BENCH_TRUTH_SECONDS", "BENCH_TRUTH_FAULTY", "BENCH_TRUTH_LOG"
_TURN: Final = re.compile(r"^(?P<label>T\d+), (?P<about>.*)$")
_SAID: Final = re.compile(r"^user(?: \"[^\"]*\")?: (?P<text>\".*\")$")
_KNOWN: Final = re.compile(r'^(?P<label>K\d+), said [^"]*: (?P<text>".*")$')
_PAIR: Final = re.compile(r'^\{"pair": ')
_ONE_AT_A_TIME: Final = {slot.name for slot in SLOTS if slot.change}


class OracleProvider:
    """Knows what is right to say of every turn, of what is known that it changes, and of every pair of memories. What
    changes within a call it tells as it ends, as the prompt asks. It names no facts or attributes."""

    name = "oracle"

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        right = _verdicts(prompt) if "verdicts" in schema["properties"] else _memories(prompt)
        try:
            text = self._oracle.answer(characters_sent(prompt, schema), json.dumps(right))
        except Throttled as error:
            raise LLMThrottled("throttled") from error
        return Reply(text, prompt_tokens=characters_sent(prompt, schema) // 4)


def open_provider(_settings: Settings) -> OracleProvider:
    oracle = Oracle(float(os.environ[SECONDS]), os.environ[FAULTY] == "1", Path(os.environ[LOG]))
    return OracleProvider(oracle)


def _memories(prompt: str) -> dict[str, Any]:
    told: list[dict[str, Any]] = []
    known: dict[str, str] = {}
    label = ""
    for line in prompt.splitlines():
        if known_line := _KNOWN.match(line):
            known[known_line["label"]] = json.loads(known_line["text"])
        elif turn := _TURN.match(line):
            label = "" if "context only" in turn["about"] else turn["label"]
        elif label and (said_line := _SAID.match(line)):
            for evidence, summary in kept_of(json.loads(said_line["text"])):
                verdicts = {name: _verdict(text, summary) for name, text in known.items()}
                before = [(earlier, _verdict(earlier["summary"], summary)) for earlier in told]
                outdated = [earlier for earlier, verdict in before if verdict == "changed"]
                if not outdated and "same" in (*verdicts.values(), *(verdict for _, verdict in before)):
                    continue
                told = [earlier for earlier in told if earlier not in outdated]
                replaces = [name for name, verdict in verdicts.items() if verdict == "changed"]
                told.append({"turn": label, "evidence": evidence, "summary": summary, "replaces": replaces})
    return {"memories": told}


def _verdicts(prompt: str) -> dict[str, Any]:
    pairs = [json.loads(line) for line in prompt.splitlines() if _PAIR.match(line)]
    return {"verdicts": [{"pair": pair["pair"], "verdict": _verdict(pair["known"], pair["new"])} for pair in pairs]}


def _verdict(known: str, new: str) -> str:
    meaning, other_meaning = MEANING.get(known), MEANING.get(new)
    if meaning is None or other_meaning is None or meaning[0] != other_meaning[0]:
        return "different"
    if meaning[1] == other_meaning[1]:
        return "same"
    return "changed" if meaning[0] in _ONE_AT_A_TIME else "different"
