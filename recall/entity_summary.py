"""Sum up what is known of an entity: by a language model where there is one, each sentence resting on facts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal

import structlog
from pydantic import BaseModel, Field

from memory.prompts import prompt
from recall.anchors import EntityFacts, KnownFact
from schema.errors import AfterturnError
from stores.llm import LLM

PROMPT: Final = "entity-summary-1"
_FACTS_SHOWN: Final = 100
_SENTENCES: Final = 4
_MEMORIES: Final = 5
"""Source: "Vectorized Episodic and Vectorized Semantic memory" asks for a summary and says no number."""
_log = structlog.get_logger()


@dataclass(frozen=True)
class EntitySummary:
    """A short text, the assertions that it rests on, and who wrote it: a model, or the memories themselves."""

    text: str
    relationship_keys: tuple[str, ...]
    by: Literal["model", "memories"]


class _Sentence(BaseModel):
    text: str
    facts: list[str]


class _Answer(BaseModel):
    sentences: list[_Sentence] = Field(default_factory=list)


def sum_up(entity_facts: EntityFacts, llm: LLM | None) -> EntitySummary:
    """Return a summary of an entity's facts: two to four sentences of the model's, none that names no fact that it was
    shown; or, without a model or an answer of use, the summaries of the best five memories."""
    if llm is not None and entity_facts.facts:
        try:
            summary = _by_model(entity_facts, llm)
        except AfterturnError as error:
            _log.warning("entity_summary_unanswered", error=type(error).__name__)
        else:
            if summary.text:
                return summary
    return _by_memories(entity_facts.facts)


def _by_model(entity_facts: EntityFacts, llm: LLM) -> EntitySummary:
    shown = {f"F{number}": fact for number, fact in enumerate(entity_facts.facts[:_FACTS_SHOWN], start=1)}
    name = "the user" if entity_facts.entity.type == "user_id" else entity_facts.entity.value
    text = prompt(PROMPT).filled(
        entity=json.dumps(name, ensure_ascii=False),
        facts="\n".join(f"{label}: {_shown(fact)}" for label, fact in shown.items()),
    )
    answer = llm.complete(text, _Answer).answer
    resting = [
        sentence
        for sentence in answer.sentences
        if sentence.text.strip() and sentence.facts and all(label in shown for label in sentence.facts)
    ][:_SENTENCES]
    keys = dict.fromkeys(shown[label].relationship_key for sentence in resting for label in sentence.facts)
    return EntitySummary(" ".join(sentence.text.strip() for sentence in resting), tuple(keys), "model")


def _shown(fact: KnownFact) -> str:
    statement = f"{fact.relation.entity} {fact.relation.verb} {fact.relation.object}"
    return f"{json.dumps(statement, ensure_ascii=False)} (said {fact.memory.said_at:%Y-%m-%d})"


def _by_memories(facts: tuple[KnownFact, ...]) -> EntitySummary:
    best = dict.fromkeys(fact.memory.id for fact in facts)
    chosen = list(best)[:_MEMORIES]
    stating = [fact for fact in facts if fact.memory.id in chosen]
    summaries = dict.fromkeys(fact.memory.summary for fact in stating)
    return EntitySummary(" ".join(summaries), tuple(fact.relationship_key for fact in stating), "memories")
