"""Deduplication: decide what becomes of a candidate: a new memory, an update of one, a changed fact, a question, or
nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from policies.facts import compare_facts
from policies.language.attributes import is_fixed
from policies.language.own_topics import ends_what_was_told
from policies.language.wording import Wording, read
from policies.merge import would_lose
from policies.pairs import (
    CHANGED_FROM,
    ENDS_FROM,
    NEWS,
    SAME_FROM,
    SURELY_ENDS_FROM,
    another_bearer,
    begins_with_another,
    changed_share,
    cues_about,
    features_of,
    same_share,
    share_a_telling_word,
    shares_only_a_unit,
)
from schema import (
    Candidate,
    Certainty,
    Change,
    Decision,
    DecisionAction,
    Memory,
    MemoryType,
    Policy,
    SameFact,
    memory_id,
)

NEW_BESIDE: Final = "something new: what is known near it is about something else"
NEAR_AND_UNTOLD: Final = "near something known, and its words do not tell whether it says the same"
LATER: Final = "an earlier statement does not replace a later one"
"""Why a candidate is skipped that contradicts what was said after it."""
NOT_SAID_TO_BE_SO: Final = "what nobody says is so does not take the place of what is known"
"""Why a candidate is kept beside what it contradicts."""
_AGREEING: Final = timedelta()
"""How far clocks that agree are apart."""
_PLAIN_ATTRIBUTE: Final = re.compile(r"[a-z][a-z_]{0,39}")
"""The name of an attribute in one plain form: "home_city"."""
_MAYBE_SAME, _MAYBE_CHANGED = 0.1, 0.25
"""Shares from which a model is asked, where there is one."""
_MAYBE_NEWS: Final = 0.3
"""From where on a statement that has no word of change may tell of one."""
_SURELY_NEWS: Final = 0.6
"""From where on it surely does: of what may have been an event nothing less is enough."""
_SCALE: Final = (0.65, 0.9)
"""MiniLM's check and automatic thresholds: cosines of other embedders are brought to its scale by their own."""
_FAR: Final = 0.4
"""The cosine, on that scale, that is taken where none is known."""
_WEAK: Final = frozenset({Certainty.SUPPOSITION, Certainty.WISH, Certainty.JOKE})
_SPOKEN: Final = {
    Change.ENDS: "ends",
    Change.MOVES: "moves",
    Change.REPLACES: "replaces",
    Change.CORRECTS: "corrects",
}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An active memory near a candidate, of the same subject.

    `similarity` is their cosine; `attribute` how likely both speak of one attribute, and `single` of one that has one
    value at a time, as far as their vectors show; `ending` how likely the candidate ends what the memory tells, by a
    model that read both together, where one was asked. `ended` says whether the candidate's whole message was read to
    end it, by what the candidate tells of it; None where no message was. `left` is what stays true of it then.
    """

    memory: Memory
    similarity: float
    attribute: float = 0.0
    single: float = 0.0
    ending: float | None = None
    ended: bool | None = None
    left: str | None = None


@dataclass(frozen=True, slots=True)
class _Judged:
    memory: Memory
    similarity: float | None
    verdict: SameFact
    ended: bool = False


def decide(
    candidate: Candidate,
    neighbours: Sequence[Neighbour],
    same_attribute: Sequence[Memory],
    policy: Policy,
    now: datetime,
    name: str | None = None,
    tolerance: timedelta = _AGREEING,
) -> Decision:
    """Return what to do with a candidate.

    `neighbours` are active memories of the same subject, best first; `same_attribute` are the subject's active
    memories with a fact of the same (entity, attribute), whatever their cosine; `name` is what the user is called, and
    `tolerance` by how much the clocks of whoever sends turns may disagree: within it, what comes later is the later.
    The same fact of the same type updates; a later statement supersedes every memory whose place it takes, of
    whatever type; what words and cosine cannot settle is asked about. What says one memory again and changes another
    does both.
    Source: "S3 Vectors Memory Implementation Plan (V1)", "Create vs Update decision policy".

    An earlier statement (`is_earlier`) never replaces a later one, nor a weaker one (a wish, a question) a stronger
    one: it is skipped, or stands beside it. The same candidate again updates what it made, or is skipped once that
    was superseded.
    """
    neighbour_ids = {n.memory.id for n in neighbours}
    nearest = max((n.similarity for n in neighbours), default=1.0)
    considered = [
        *neighbours,
        *(Neighbour(m, _unscaled(candidate, policy)) for m in same_attribute if m.id not in neighbour_ids),
    ]
    judged = [
        _Judged(
            n.memory,
            n.similarity if n.memory.id in neighbour_ids else None,
            _judge(candidate, n, policy, now, name or "", tolerance, nearest),
            ended=n.ended is True,
        )
        for n in considered
    ]
    changed = _of_one_thing(candidate, [j for j in judged if j.verdict is SameFact.CHANGED], name or "")
    if any(_was_superseded(candidate, n.memory) for n in considered):
        return Decision(action=DecisionAction.SKIP, reason="this statement was superseded before")
    if later := [j for j in changed if is_earlier(candidate, j.memory, tolerance)]:
        return _on_one(DecisionAction.SKIP, later[0], LATER)
    same = [j for j in judged if j.verdict is SameFact.SAME]
    if same:
        return _on_one(DecisionAction.UPDATE, same[0], "the same fact", outdated=changed)
    if changed:
        return Decision(
            action=DecisionAction.SUPERSEDE,
            reason=f"{_what_changed(candidate, changed)} changed",
            targets=tuple(j.memory.id for j in changed),
            similarity=max((j.similarity for j in changed if j.similarity is not None), default=None),
        )
    unsure = [j for j in judged if j.verdict is SameFact.UNSURE]
    if unsure:
        return _on_one(DecisionAction.CHECK, unsure[0], NEAR_AND_UNTOLD)
    reason = "nothing similar" if not judged else NEW_BESIDE
    return Decision(action=DecisionAction.CREATE, reason=reason)


def _of_one_thing(candidate: Candidate, changed: Sequence[_Judged], name: str) -> list[_Judged]:
    """Return what a candidate changes of what it may: a statement changes one thing.

    What it was read to end, or shares a fact's attribute or a telling word with it, goes before what is merely near; of
    that, only the nearest.
    """
    wording = read(candidate.summary, name)
    surely = [
        j
        for j in changed
        if j.ended
        or compare_facts(candidate.facts, j.memory.facts) is SameFact.CHANGED
        or share_a_telling_word(wording, read(j.memory.summary, name))
    ]
    return surely or sorted(changed, key=lambda j: -(j.similarity or 0.0))[:1]


def beside_what_is_known(candidate: Candidate, decision: Decision) -> Decision:
    """Return the decision on a candidate, whoever made it, without what it may not do: what its user does not say is
    so (another's words, a wish, a joke, what is of another world) takes the place of nothing, and stands beside it."""
    if candidate.certainty not in _WEAK:
        return decision
    if decision.action is DecisionAction.SUPERSEDE:
        return Decision(action=DecisionAction.CREATE, reason=NOT_SAID_TO_BE_SO, similarity=decision.similarity)
    return decision.model_copy(update={"outdated": ()})


def is_earlier(candidate: Candidate, memory: Memory, tolerance: timedelta) -> bool:
    """Return whether a candidate was said before a memory that is known already, by more than clocks may disagree."""
    return memory.said_at - candidate.said_at > tolerance


def contradicts(
    candidate: Candidate, memory: Memory, policy: Policy, name: str | None = None, tolerance: timedelta = _AGREEING
) -> bool:
    """Return whether a candidate takes the place of a memory, by their words and facts."""
    near = Neighbour(memory, _unscaled(candidate, policy, _SCALE[0]))
    return _judge(candidate, near, policy, memory.created_at, name or "", tolerance) is SameFact.CHANGED


def tells_news(candidate: Candidate) -> bool:
    """Return whether a candidate says that something is otherwise than it was."""
    return _news(candidate) >= _MAYBE_NEWS or bool(_spoken(candidate).cues & NEWS)


def may_end(candidate: Candidate, neighbour: Neighbour, tolerance: timedelta = _AGREEING) -> bool:
    """Return whether a candidate may end what a memory tells, so that both are worth reading together."""
    memory = neighbour.memory
    return (
        candidate.summary != memory.summary
        and candidate.turn_id not in memory.source_turn_ids
        and not is_earlier(candidate, memory, tolerance)
        and _can_end(candidate, memory, _spoken(candidate))
    )


def _judge(  # noqa: PLR0911 (a list of reasons)
    candidate: Candidate,
    neighbour: Neighbour,
    policy: Policy,
    now: datetime,
    name: str,
    tolerance: timedelta,
    nearest: float = -1.0,
) -> SameFact:
    """Return what a candidate is to a memory; `nearest` is the cosine of the nearest of all."""
    memory = neighbour.memory
    alike = memory.type is candidate.type and _within_window(candidate, memory, policy, now)
    if memory.summary == candidate.summary:
        return SameFact.SAME if alike else SameFact.DIFFERENT
    wording = _spoken(candidate, name)
    memory_wording = read(memory.summary, name)
    weaker = _is_weaker(candidate, wording, memory_wording)
    by_facts = compare_facts(candidate.facts, memory.facts)
    is_old = is_earlier(candidate, memory, tolerance)
    changes = by_facts is SameFact.CHANGED and _takes_place(candidate, wording)
    if not is_old and ends_what_was_told(candidate.summary, memory.summary, candidate.language):
        changes = changes or _can_end(candidate, memory, wording)
    if changes and not weaker:
        return SameFact.CHANGED
    if by_facts is SameFact.DIFFERENT and not neighbour.ended:
        return by_facts
    old, new = (wording, memory_wording) if is_old else (memory_wording, wording)
    cosine = _scaled(neighbour.similarity, candidate, policy)
    behind = max(0.0, _scaled(nearest, candidate, policy) - cosine)
    news = _news(candidate) if new is wording else 0.0
    features = features_of(old, new, cosine, neighbour.attribute, neighbour.single, behind, news)
    mergeable = alike and not weaker and not another_bearer(old, new) and not would_lose(candidate, memory)
    same = same_share(features) if mergeable and cosine >= _SCALE[0] else 0.0
    if mergeable and by_facts is SameFact.SAME and not features["numbers clash"]:
        return SameFact.SAME
    stays = weaker or _is_never_over(memory, wording) or shares_only_a_unit(memory_wording, wording)
    if neighbour.ended and not stays and same < SAME_FROM:
        return SameFact.CHANGED
    is_of_another = begins_with_another(old, new) or shares_only_a_unit(old, new)
    may_change = _may_change(candidate, memory, new)
    changed = neighbour.ending or 0.0
    # The same words with another value need no reading: "I have a dog called Rex" and "I have a dog called Fido".
    is_for_words = neighbour.ended is None or bool(features["one for another"])
    if is_for_words and neighbour.ending is None and may_change and not is_of_another:
        changed = changed_share(features)
    if max(same - SAME_FROM, changed - _changed_from(neighbour, may_change)) >= 0:
        return SameFact.SAME if same >= changed else SameFact.CHANGED
    # Another value of the same attribute is a question at the least.
    in_doubt = same >= _MAYBE_SAME or changed >= _MAYBE_CHANGED or by_facts is SameFact.CHANGED
    return SameFact.UNSURE if in_doubt else SameFact.DIFFERENT


def _changed_from(neighbour: Neighbour, may_change: bool) -> float:
    if neighbour.ending is None:
        return CHANGED_FROM
    return ENDS_FROM if may_change else SURELY_ENDS_FROM


def _spoken(candidate: Candidate, name: str = "") -> Wording:
    """Return a candidate's words, with the change that the extractor saw as one of their cues."""
    words = read(candidate.summary, name)
    cue = _SPOKEN.get(candidate.change)
    return replace(words, cues=words.cues | {cue}) if cue else words


def _news(candidate: Candidate) -> float:
    return candidate.news if candidate.change is Change.NONE else 1.0


def _is_weaker(candidate: Candidate, wording: Wording, memory_wording: Wording) -> bool:
    """Return whether a candidate is less sure than what is known: wondering about an allergy is not having one."""
    if "weak" in memory_wording.cues:
        return False
    return candidate.certainty in _WEAK or ("weak" in wording.cues and candidate.change is Change.NONE)


def _takes_place(candidate: Candidate, wording: Wording) -> bool:
    """Return whether another value takes the place of the one that is known: not what is planned, past, or one more."""
    if candidate.certainty is Certainty.PLAN:
        return bool(wording.cues & NEWS)
    if candidate.certainty is Certainty.PAST:
        return "ends" in wording.cues
    return "further" not in wording.cues


def _may_change(candidate: Candidate, memory: Memory, new: Wording) -> bool:
    """Return whether words may tell that a memory no longer holds: of what was said in the same breath, of what goes on
    and of what will happen, another statement only tells if something is moved, ended or corrected by it."""
    if not _can_end(candidate, memory, new):
        return False
    has_word_of_it = bool(new.cues & NEWS)
    if candidate.turn_id in memory.source_turn_ids and not has_word_of_it:
        return False
    if memory.type is not MemoryType.EPISODIC:
        return True
    if _goes_on(memory):
        return has_word_of_it or _news(candidate) >= _SURELY_NEWS
    if memory.occurred_at <= memory.said_at:
        return True
    return has_word_of_it and not _moves_something_else(candidate, memory, new)


def _can_end(candidate: Candidate, memory: Memory, new: Wording) -> bool:
    """Return whether a memory can be ended at all by a statement: what has happened can only be corrected."""
    if candidate.certainty in _WEAK or candidate.certainty is Certainty.PAST or _is_never_over(memory, new):
        return False
    if memory.type is not MemoryType.EPISODIC or memory.occurred_at > memory.said_at or _goes_on(memory):
        return True
    return "corrects" in cues_about(new, read(memory.summary))


def _is_never_over(memory: Memory, new: Wording) -> bool:
    """Return whether a memory tells what can only be put right: where somebody grew up."""
    return any(is_fixed(fact.attribute) for fact in memory.facts) and "corrects" not in new.cues


def _goes_on(memory: Memory) -> bool:
    """Return whether nothing says when an episode was: "saving for a bike" and "we've been together for years" go on
    until something ends them."""
    return memory.occurred_at == memory.said_at and "past" not in read(memory.summary).cues


def _moves_something_else(candidate: Candidate, memory: Memory, new: Wording) -> bool:
    """Return whether a word of moving is of an attribute of which a memory does not tell: who moves to Oslo moves
    house, and not the wedding that lies before them."""
    attributes = {fact.attribute for fact in candidate.facts if fact.attribute}
    return new.cues & NEWS == {"moves"} and bool(attributes - {fact.attribute for fact in memory.facts})


def _within_window(candidate: Candidate, memory: Memory, policy: Policy, now: datetime) -> bool:
    """Return whether they may be one: episodes only if the memory is fresh (the plan's `created_at`) and both tell of
    the same days, so that a replay of old turns, all created just now, does not merge what lies months apart."""
    if candidate.type is not MemoryType.EPISODIC:
        return True
    window = timedelta(hours=policy.episodic_merge_window_hours)
    return now - memory.created_at <= window and abs(candidate.occurred_at - memory.occurred_at) <= window


def _was_superseded(candidate: Candidate, by: Memory) -> bool:
    return memory_id(by.subject, candidate.type, candidate.turn_id, candidate.ordinal) in by.supersedes


def _what_changed(candidate: Candidate, changed: Sequence[_Judged]) -> str:
    for fact in candidate.facts:
        if fact.attribute and _PLAIN_ATTRIBUTE.fullmatch(fact.attribute):
            for j in changed:
                if compare_facts((fact,), j.memory.facts) is SameFact.CHANGED:
                    return fact.attribute
    return "the fact"


def _on_one(action: DecisionAction, judged: _Judged, reason: str, outdated: Sequence[_Judged] = ()) -> Decision:
    return Decision(
        action=action,
        reason=reason,
        targets=(judged.memory.id,),
        outdated=tuple(j.memory.id for j in outdated),
        similarity=judged.similarity,
    )


def _thresholds(type_: MemoryType, policy: Policy) -> tuple[float, float]:
    if type_ is MemoryType.EPISODIC:
        return policy.episodic_check_low, policy.episodic_auto_update
    return policy.semantic_check_low, policy.semantic_auto_update


def _scaled(cosine: float, candidate: Candidate, policy: Policy) -> float:
    low, auto = _thresholds(candidate.type, policy)
    return _SCALE[0] + (cosine - low) * (_SCALE[1] - _SCALE[0]) / max(auto - low, 0.01)


def _unscaled(candidate: Candidate, policy: Policy, cosine: float = _FAR) -> float:
    low, auto = _thresholds(candidate.type, policy)
    return low + (cosine - _SCALE[0]) * max(auto - low, 0.01) / (_SCALE[1] - _SCALE[0])
