"""Every number that the policies believe in, in one frozen value."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import Field

from schema.base import Value
from schema.decision import Thresholds
from schema.memory import Share

Count = Annotated[int, Field(ge=0)]
Handling = Literal["keep", "mask", "drop"]
PLAN = "S3 Vectors Memory Implementation Plan (V1)"
MECHANICS = "Memory System - Mechanics"
PHASE_1 = "AI Memory Phase 1"
BRIEF = "Memory System - V1"
VOS = "VOS Memory System"
_CENTURY_DAYS = 36_500
Days = Annotated[float, Field(gt=0, le=_CENTURY_DAYS)]
WholeDays = Annotated[int, Field(ge=0, le=_CENTURY_DAYS)]
"""As good as never at its end; no calendar goes back as far as 999,999."""


class Policy(Value):
    """The constants of the policies. Each is set by the environment variable of its name in capitals.

    The four dedup thresholds are on the scale of Titan v2, as their source gives them. An embedder with another
    scale brings measured ones, which stand unless a variable sets them: see `on_scale_of`.
    """

    semantic_auto_update: Share = Field(
        0.90,
        description=f"cosine from which a semantic candidate is the same fact ({PLAN}, configuration knobs)",
    )
    semantic_check_low: Share = Field(
        0.80,
        description=f"cosine from which a semantic candidate is compared fact by fact ({PLAN}, configuration knobs)",
    )
    episodic_auto_update: Share = Field(
        0.92, description=f"as SEMANTIC_AUTO_UPDATE, for episodic memories ({PLAN}, configuration knobs)"
    )
    episodic_check_low: Share = Field(
        0.85, description=f"as SEMANTIC_CHECK_LOW, for episodic memories ({PLAN}, configuration knobs)"
    )
    episodic_merge_window_hours: Annotated[int, Field(ge=0, le=24 * _CENTURY_DAYS)] = Field(
        72, description=f"hours within which two episodes can be the same one ({PLAN}, configuration knobs)"
    )
    memory_neighbors_k: Annotated[int, Field(ge=1, le=100)] = Field(
        10, description=f"how many neighbours a candidate is compared with ({PLAN}, configuration knobs)"
    )
    memory_write_rate_limit_per_hour: Count = Field(
        20,
        description=f"writes per subject and hour after which importance is lowered ({PLAN}, configuration knobs)",
    )
    importance_minimum: Share = Field(0.10, description="importance below which a candidate is dropped")
    importance_pinned_weight: Share = Field(0.25, description=f"weight of a pin ({MECHANICS}, section 3)")
    importance_trust_weight: Share = Field(0.20, description=f"weight of trust ({MECHANICS}, section 3)")
    importance_access_weight: Share = Field(0.20, description=f"weight of use ({MECHANICS}, section 3)")
    importance_affect_weight: Share = Field(0.20, description=f"weight of affect ({MECHANICS}, section 3)")
    importance_explicit_weight: Share = Field(
        0.15, description=f"weight of the user's asking for it ({MECHANICS}, section 3)"
    )
    importance_negative_discount: Share = Field(
        0.8, description=f"how much a negative affect counts beside a positive one ({MECHANICS}, section 3)"
    )
    importance_kind_weight: Share = Field(
        1.0,
        description="how much of what a memory of its kind matters by itself it has at least; 0: the sum alone "
        f"({VOS}, memory types)",
    )
    rate_limited_importance_factor: Share = Field(
        0.5, description="what importance is multiplied by past the rate limit"
    )
    retrieval_relevance_weight: Share = Field(
        0.95, description="weight of relevance in a search (docs/decisions, hybrid search)"
    )
    retrieval_importance_weight: Share = Field(0.02, description="weight of importance in a search")
    retrieval_recency_weight: Share = Field(0.02, description="weight of recency in a search")
    retrieval_trust_weight: Share = Field(0.01, description="weight of trust in a search")
    retrieval_words_weight: Share = Field(
        0.4, description="share of the words (BM25) in relevance; the rest is the cosine's"
    )
    retrieval_windows_weight: Share = Field(
        0.3,
        description="share of the nearest window of its turns in a memory's relevance, with "
        "`AFTERTURN_EPISODIC_WINDOWS=on` (docs/decisions, windows and facts)",
    )
    retrieval_context_weight: Share = Field(
        0.3, description="how much of a memory's relevance goes to what was said just before and after it"
    )
    retrieval_context_half_life_minutes: Annotated[float, Field(gt=0)] = Field(
        5.0, description="minutes between two memories of one conversation after which half of that is left"
    )
    retrieval_repetition_saturation: Annotated[float, Field(ge=0, le=10)] = Field(
        1.2, description="how much the repetition of a word counts in a search (k1 of BM25)"
    )
    retrieval_length_weight: Share = Field(0.4, description="how much a long summary is held back (b of BM25)")
    retrieval_pool: Annotated[int, Field(ge=1, le=1_000)] = Field(
        50, description=f"how many of the most relevant are ranked ({MECHANICS}, section 5, reranking)"
    )
    retrieval_relevant: Annotated[float, Field(ge=0, le=2)] = Field(
        0.72,
        description="evidence from which on a question is about something known: the best cosine, and beside it the "
        f"share of its words ({MECHANICS}, section 5, for Titan v2; docs/reference/calibration.md)",
    )
    retrieval_hit_share: Share = Field(
        0.5,
        description="how much of that each hit needs itself, of the evidence by its relevance beside the best; 0: all "
        "that a search finds is told (docs/reference/calibration.md)",
    )
    retrieval_coverage_weight: Share = Field(
        0.4, description="how much the share of a question's words that a memory has counts as evidence"
    )
    retrieval_unknown_name_weight: Share = Field(
        0.2, description="how much it counts against a question that no memory has the names that it names"
    )
    retrieval_nameless: Share = Field(
        0.15,
        description="evidence that a question of somebody without a name has beside what is found: a name makes it and "
        "what is known of its bearer more alike (docs/reference/calibration.md)",
    )
    retrieval_ranking: Literal["measured", "seed-000", "seed-001"] = Field(
        "measured",
        description="by which weights hits are ranked: measured ones, which the constants above are, or those of the "
        f"{PLAN} or of the {MECHANICS}",
    )
    chunk_tokens: Annotated[int, Field(ge=20, le=8_000)] = Field(
        500, description=f"tokens of a chunk of a document, about; cut to what the embedder reads ({PHASE_1}, chunking)"
    )
    chunk_overlap_tokens: Count = Field(
        50, description=f"tokens that two pieces of one long paragraph have in common ({PHASE_1}, chunking)"
    )
    chunk_max_tokens: Annotated[int, Field(ge=20, le=8_192)] = Field(
        600, description=f"tokens that no chunk has more of ({PHASE_1}, chunking)"
    )
    document_top_k: Annotated[int, Field(ge=0, le=50)] = Field(
        5, description=f"excerpts of documents that a context block has at most ({PHASE_1}, retrieval)"
    )
    retrieval_excerpt_relevant: Annotated[float, Field(ge=0, le=2)] = Field(
        0.25,
        description="evidence from which on an excerpt of a document answers a question: its cosine, and beside it the "
        "share of the question's words (docs/reference/calibration.md; on the scale of MiniLM)",
    )
    open_topic_hours: Annotated[int, Field(ge=1, le=24 * _CENTURY_DAYS)] = Field(
        168, description="hours after which a topic that an extraction left open is no longer shown to the next"
    )
    question_hours: Annotated[int, Field(ge=1, le=24 * _CENTURY_DAYS)] = Field(
        24, description="hours after which what the user says no longer answers the assistant's last question"
    )
    open_reviews_per_subject: Count = Field(
        50, description="candidates of a subject that may wait for a person; what is quarantined past that is not kept"
    )
    consolidate_days: WholeDays = Field(
        90, description=f"days within which episodes are condensed ({MECHANICS}, section 10)"
    )
    consolidate_similarity: Share = Field(
        0.55, description="cosine from which two episodes may be told as one; on the scale of MiniLM"
    )
    consolidate_span_days: WholeDays = Field(30, description="days that one consolidated memory tells of at most")
    consolidate_members: Annotated[int, Field(ge=2, le=50)] = Field(
        3, description="episodes that become one memory at most"
    )
    consolidate_sentences: Annotated[int, Field(ge=2, le=20)] = Field(
        3, description="sentences of a consolidated memory that is told in its episodes' own words, at most"
    )
    consolidate_low_importance: Share = Field(
        0.15, description="importance below which an episode that belongs to no other is archived, after a while"
    )
    consolidate_grace_days: WholeDays = Field(30, description="days before that")
    consolidate_burst: Annotated[int, Field(ge=2)] = Field(
        50, description="episodes within 24 hours from which a subject is condensed at once"
    )
    promote_times: Annotated[int, Field(ge=2)] = Field(
        3, description=f"episodes with the same fact or tag that make it lasting ({MECHANICS}, section 7)"
    )
    promote_days: WholeDays = Field(60, description=f"days within which they must lie ({MECHANICS}, section 7)")
    promote_trust: Share = Field(0.7, description=f"trust that they must be above ({MECHANICS}, section 7)")
    promote_confidence: Share = Field(
        0.9, description=f"confidence below which a person must agree ({MECHANICS}, section 7)"
    )
    forget_light: bool = Field(
        False,
        description="forget by the light rule (unused for long and unimportant: deleted) instead of by half-lives "
        f"({BRIEF}, forgetting)",
    )
    forget_light_days: WholeDays = Field(60, description=f"days without use for the light rule ({BRIEF}, forgetting)")
    forget_light_importance: Share = Field(
        0.4, description=f"importance up to which the light rule deletes: 2 of 5 ({BRIEF}, forgetting)"
    )
    half_life_high_days: Days = Field(
        365.0, description=f"days in which the weight of an importance from 0.85 on halves ({MECHANICS}, section 6)"
    )
    half_life_middle_days: Days = Field(180.0, description=f"the same, from 0.5 to 0.85 ({MECHANICS}, section 6)")
    half_life_low_days: Days = Field(90.0, description=f"the same, from 0.2 to 0.5 ({MECHANICS}, section 6)")
    half_life_least_days: Days = Field(30.0, description=f"the same, below 0.2 ({MECHANICS}, section 6)")
    archive_weight: Share = Field(0.05, description=f"weight below which a memory is archived ({MECHANICS}, section 6)")
    archive_idle_days: WholeDays = Field(
        30, description=f"days without use before a memory is archived ({MECHANICS}, section 6)"
    )
    archive_kept_days: WholeDays = Field(
        180, description=f"days for which an archived memory is kept before it is deleted ({MECHANICS}, section 6)"
    )
    personal_identifiers: Handling = Field(
        "mask",
        description="what is done with e-mail addresses, phone numbers and the like: keep them, mask them, or drop the "
        "statement that has one",
    )
    others_sensitive_data: Handling = Field(
        "mask",
        description="what is done with health, religion, sexuality, politics, origin and crimes of other people who "
        "are named: keep it, mask the name, or drop the statement",
    )

    def on_scale_of(self, thresholds: Thresholds) -> Policy:
        """Return this policy with an embedder's thresholds wherever none was set by hand.

        Raises:
            ValueError: a threshold set by hand contradicts one of the embedder's.
        """
        given = thresholds.model_dump(exclude_none=True)
        measured = {name: value for name, value in given.items() if name not in self.model_fields_set}
        scaled = Policy.model_validate(self.model_dump() | measured)
        for kind in ("semantic", "episodic"):
            low, auto = getattr(scaled, f"{kind}_check_low"), getattr(scaled, f"{kind}_auto_update")
            if low > auto:
                raise ValueError(
                    f"{kind.upper()}_CHECK_LOW ({low}) is above {kind.upper()}_AUTO_UPDATE ({auto}): the range in "
                    "which facts are compared lies below the one in which they count as the same"
                )
        return scaled

    @property
    def version(self) -> str:
        """Return twelve hex digits that change with any constant; stamped on every audit entry."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]
