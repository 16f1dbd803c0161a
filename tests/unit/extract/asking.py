"""The extractor that asks a language model, with a model that answers what a test tells it to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from policies.admission import admit_for_model
from schema import (
    Candidate,
    Context,
    Extraction,
    Message,
    Policy,
    Turn,
)
from schema.settings import Settings
from tests.scripted import Scripted, answer, guarded
from worker.extract import AdmittedTurn, Extractor
from worker.extract.model import ModelExtractor
from worker.extract.rules import RulesExtractor

WHEN = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
CATEGORIES = Settings().categories
RULES = RulesExtractor(CATEGORIES)
NOTHING = answer()


def a_turn(
    *said: tuple[str, str], turn_id: str = "turn-id-1", name: str | None = "Maya", **fields: Any
) -> AdmittedTurn:
    messages = tuple(
        Message.model_validate({"role": role, "content": content, "name": name if role == "user" else None})
        for role, content in said
    )
    turn = Turn.model_validate(
        {
            "turn_id": turn_id,
            "tenant_id": "tenant-id",
            "user_id": "user-id",
            "conversation_id": "conversation-id",
            "messages": messages,
            "occurred_at": WHEN,
        }
        | fields
    )
    return AdmittedTurn(turn, admit_for_model(turn))


def said(text: str, **fields: Any) -> AdmittedTurn:
    return a_turn(("user", text), **fields)


def ask(
    provider: Scripted,
    *turns: AdmittedTurn,
    context: Context | None = None,
    dropped: list[str] | None = None,
    rules: Extractor = RULES,
    **how: Any,
) -> Extraction:
    told_why = (dropped if dropped is not None else []).append
    extractor = ModelExtractor(guarded(provider), rules, CATEGORIES, Policy(), dropped=told_why, **how)
    return extractor.extract(turns, context or Context())


def candidates(extraction: Extraction) -> list[Candidate]:
    return [item for item in extraction.items if isinstance(item, Candidate)]
