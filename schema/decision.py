"""Answers of policies: admission of a turn, screening of a text, and the decision on a candidate."""

from __future__ import annotations

import uuid
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schema.base import Value
from schema.memory import Share


class AdmissionAction(StrEnum):
    KEEP = "keep"
    """Rules are sure that there is something to remember."""
    ASK = "ask"
    """There may be: an LLM is asked where one is configured, the rules extractor looks where none is."""
    SKIP = "skip"


class Admission(Value):
    """Decision whether a turn is worth an extraction, with the rules that said so."""

    action: AdmissionAction
    reasons: tuple[str, ...]


class Verdict(StrEnum):
    ALLOW = "allow"
    REDACT = "redact"
    """Keep the text, with what must not be kept masked."""
    REFUSE = "refuse"
    QUARANTINE = "quarantine"
    """Hold for a person's review; never active by itself."""


class Screening(Value):
    """The part of a text that may be kept. `text` is it with everything masked that must be; `reasons` name rules only,
    never the content that they matched."""

    verdict: Verdict
    text: str
    reasons: tuple[str, ...] = ()


class DecisionAction(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    CHECK = "check"
    """Too close to call by rules: ask a model whether it is the same fact, or create where none is configured."""
    SUPERSEDE = "supersede"
    SKIP = "skip"


class Decision(Value):
    """Decision of dedup on a candidate.

    `targets` are the memories that it concerns: the one to update or to check (exactly one), all that it supersedes, or
    one for whose sake it is skipped. `outdated` are those that an update contradicts: the updated memory takes their
    place. `similarity` is the cosine to the nearest target.
    """

    action: DecisionAction
    reason: str
    targets: tuple[uuid.UUID, ...] = ()
    outdated: tuple[uuid.UUID, ...] = ()
    similarity: Annotated[float, Field(ge=-1.001, le=1.001)] | None = None


class SameFact(StrEnum):
    """Result of comparing two statements."""

    SAME = "same"
    CHANGED = "changed"
    DIFFERENT = "different"
    UNSURE = "unsure"


class Thresholds(Value):
    """From which cosine on two summaries are about the same thing, on the scale of one embedder."""

    semantic_auto_update: Share
    semantic_check_low: Share
    episodic_auto_update: Share
    episodic_check_low: Share
    retrieval_relevant: Annotated[float, Field(ge=0, le=2)] | None = None
    """From which evidence on a question is about something known; the policy's where nobody has measured it."""
