"""Are two statements the same fact? By words and facts, beside the cosine, which cannot tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from policies.language import lexicon
from policies.language.wording import BEARERS, Quantity, Wording, content, contents, read
from schema import Candidate, Entity, Fact, Memory, MemoryType, Policy, SameFact

# All shares below were chosen on labelled sentence pairs (SICK, STS-B, MRPC, SNLI, ProSeCCo) beside MiniLM's cosine, so
# that of the contradictions fewer than two in a hundred pass for the same fact.
_NEAR_EQUAL: Final = 0.8
"""Share of all content words that two short statements have in common when they are the same."""
_NEAR_EQUAL_LONG: Final = 0.65
_LONG: Final = 7
"""Content words from which a statement is long: one word more or less weighs little in it."""
_SUBSET: Final = 0.4
"""How much of the longer one the shorter one must be to be the same with less detail."""
_UNRELATED: Final = 0.25
"""Share of the shorter one's content words below which two statements are about different things."""
_SAME_FRAME: Final = 0.6
"""Share of what is not a value from which a conflict is about the same thing."""
_REWORDED: Final = 2
_SHARED_WEIGHT, _SHARED_MARGIN = 0.40, 0.06
"""Statements that share words are the same from a lower cosine: cosine + weight * share >= automatic + margin."""
_LOOSE_WEIGHT, _LOOSE_MARGIN = 0.30, -0.04
"""The same for two statements that the words alone call the same."""
_SHORT: Final = 6
"""Content words below which one word put in the place of another makes another statement."""


_Test = Callable[[Wording, Wording], SameFact | None]


@dataclass(frozen=True, slots=True)
class Statement:
    """What candidates and memories have in common when they are compared."""

    summary: str
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    category: str
    type: MemoryType
    occurred_at: datetime

    @classmethod
    def of(cls, said: Candidate | Memory) -> Self:
        return cls(said.summary, said.entities, said.facts, said.category, said.type, said.occurred_at)


def compare(a: Statement, b: Statement, policy: Policy) -> SameFact:
    """Whether two statements say the same; the order of the two does not matter.

    SAME: one may be merged into the other. CHANGED: they speak of the same thing and cannot both hold now.
    DIFFERENT: both may stand. UNSURE: the words do not tell.

    Source: "S3 Vectors Memory Implementation Plan (V1)", "Create vs Update decision policy":
    shared names bias to the same, another category away from it.
    """
    by_facts = compare_facts(a.facts, b.facts)
    if a.summary == b.summary:
        said = SameFact.SAME
    elif by_facts is SameFact.CHANGED:
        return by_facts
    else:
        episodes = a.type is b.type is MemoryType.EPISODIC
        # Where both state the same value, what else they say was left behind or is not so is no conflict.
        tests = (_by_numbers,) if by_facts is SameFact.SAME else _CONFLICTS
        said = conflict(a.summary, b.summary, tests, episodes=episodes) or _agreement(a, b, by_facts, policy)
    return _another_episode(a, b, said, policy)


def weighed(said: SameFact, a: Statement, b: Statement, similarity: float, automatic: float) -> SameFact:
    """What `compare` said of two statements, in the light of their cosine.

    UNSURE becomes SAME where the cosine, raised by the share of common words, reaches the automatic threshold of the
    embedder; SAME becomes UNSURE where they only share words and the cosine falls far short of it.
    """
    one, other = read(a.summary).words, read(b.summary).words
    shared = len(one & other) / (len(one | other) or 1)
    if said is SameFact.UNSURE:
        swapped = len(one - other) == len(other - one) == 1 and min(len(one), len(other)) < _SHORT
        likely = not swapped and similarity + _SHARED_WEIGHT * shared >= automatic + _SHARED_MARGIN
        return SameFact.SAME if likely else said
    if said is SameFact.SAME and a.summary != b.summary and compare_facts(a.facts, b.facts) is not SameFact.SAME:
        loose = similarity + _LOOSE_WEIGHT * shared < automatic + _LOOSE_MARGIN
        return SameFact.UNSURE if loose else said
    return said


def _agreement(a: Statement, b: Statement, by_facts: SameFact, policy: Policy) -> SameFact:
    if by_facts is SameFact.SAME:
        return by_facts
    said = likeness(a.summary, b.summary)
    if said is SameFact.UNSURE and policy.memory_enable_entity_heuristics:
        return _biased(a, b, policy)
    return said


def compare_facts(a: tuple[Fact, ...], b: tuple[Fact, ...]) -> SameFact:
    """What the triples alone say: CHANGED, SAME or UNSURE."""
    found = SameFact.UNSURE
    for one in a:
        for other in b:
            if one.entity.casefold() != other.entity.casefold():
                continue
            same_object = _same_object(one.object, other.object)
            opposed = _opposed_verbs(one.verb, other.verb)
            if same_object and opposed:
                return SameFact.CHANGED
            if one.attribute and other.attribute and one.attribute.casefold() == other.attribute.casefold():
                if not same_object and not (_is_over(one.verb) or _is_over(other.verb)):
                    return SameFact.CHANGED
                if not same_object:
                    continue  # that one thing ended says nothing of another one
                found = SameFact.SAME
    return found


def _same_object(a: str, b: str) -> bool:
    if a.casefold() == b.casefold():
        return True
    one, other = read(a), read(b)
    if _numbers_conflict(one.quantities, other.quantities) or not (one.words or one.quantities):
        return False
    if not one.words or not other.words:
        return one.words == other.words and one.quantities == other.quantities
    return one.words <= other.words or other.words <= one.words


def _is_over(verb: str) -> bool:
    return bool(read(verb).negations)


def _opposed_verbs(a: str, b: str) -> bool:
    one, other = read(a), read(b)
    return bool(
        bool(one.negations) != bool(other.negations)
        or one.ended != other.ended
        or _oppose(one.words - other.words, other.words - one.words, _OPPOSITES)
    )


def compare_texts(a: str, b: str) -> SameFact:
    """What the words alone say."""
    return SameFact.SAME if a == b else conflict(a, b) or likeness(a, b)


def conflict(a: str, b: str, tests: Sequence[_Test] | None = None, *, episodes: bool = False) -> SameFact | None:
    """CHANGED or DIFFERENT where numbers, polarity, names or rival words stand against each other; else None.

    `episodes` says that both tell of events: another number or date is another event then, unless it is of
    something that happens once (an appointment, a flight). `tests` are all unless some are named.
    """
    one, other = read(a), read(b)
    for test in _CONFLICTS if tests is None else tests:
        said = test(one, other)
        if said is None:
            continue
        # What used to be, and what another one is, takes nothing from what is.
        apart = one.past != other.past or one.further != other.further
        other_event = test in _OF_VALUES and (apart or (episodes and not one.cues & other.cues))
        if said is SameFact.CHANGED and (other_event or _bearers(one) != _bearers(other)):
            return SameFact.DIFFERENT
        return said
    return None


def _by_polarity(one: Wording, other: Wording) -> SameFact | None:
    here, there = one.words - other.words, other.words - one.words
    if _oppose(here, there, _STATES):
        return SameFact.CHANGED
    here, there = _more_often(one, other), _more_often(other, one)
    if bool(one.negations) != bool(other.negations):
        # That something is not so of one name says nothing of another.
        return _changed_if(_frame(one, other) >= _SAME_FRAME and not _names_conflict(one, other))
    if one.negations % 2 != other.negations % 2:
        return SameFact.DIFFERENT
    if _oppose(here, there, _OPPOSITES) or _negated_word(here, there) or _negated_word(there, here):
        rest = [words - _OPPOSABLE for words in (one.words, other.words)]
        return _changed_if(bool(min(rest, key=len)) and _overlap(*rest) >= _SAME_FRAME)
    if _particles_oppose(one.particles, other.particles) and min(len(here), len(there)) <= 1:
        return SameFact.DIFFERENT
    return None


def _more_often(one: Wording, other: Wording) -> frozenset[str]:
    """The words that the one says and the other does not, or not as often: a girl and a boy are not two boys."""
    missing = one.words - other.words
    if len(one.order) == len(one.words) or abs(len(one.order) - len(other.order)) > 1:
        return missing
    return missing | (Counter(one.order) - Counter(other.order)).keys()


def _by_ending(one: Wording, other: Wording) -> SameFact | None:
    """What one statement says has ended and the other still tells of: sold, quit, switched from."""
    for over, still in ((one, other), (other, one)):
        if over.stopped and over.stopped <= still.words and not still.stopped and not still.past:
            return SameFact.CHANGED
    if one.ended != other.ended:
        over, still = (one, other) if one.ended else (other, one)
        left_over = still.words - over.words - _HOLDING
        return SameFact.CHANGED if still.words & over.words and not left_over else None
    for over, still in ((one, other), (other, one)):
        if over.left & still.words and not still.left and not still.words - over.words - _HOLDING:
            return SameFact.CHANGED
    return None


def _by_numbers(one: Wording, other: Wording) -> SameFact | None:
    if not _numbers_conflict(one.quantities, other.quantities):
        return None
    return _changed_if(_frame(one, other) >= _SAME_FRAME)


def _by_names(one: Wording, other: Wording) -> SameFact | None:
    return _changed_if(bool(one.cues & other.cues)) if _names_conflict(one, other) else None


def _by_rivals(one: Wording, other: Wording) -> SameFact | None:
    here, there = _more_often(one, other), _more_often(other, one)
    shared = {_CLASSES[w] for w in here if w in _CLASSES} & {_CLASSES[w] for w in there if w in _CLASSES}
    if not shared:
        return None
    only_dates = all(_CLASSES.get(w) in _DATE_CLASSES for w in here | there)
    rest = [frozenset(w for w in words if w not in _CLASSES) for words in (one.words, other.words)]
    return _changed_if(only_dates or (bool(one.cues & other.cues) and _overlap(*rest) >= _SAME_FRAME))


def _by_roles(one: Wording, other: Wording) -> SameFact | None:
    """The same words in other places: who lends whom, what is preferred to what."""
    if one.words != other.words or one.order == other.order or one.passive != other.passive:
        return None
    if "prefer" in one.words:
        return SameFact.CHANGED
    return SameFact.DIFFERENT if _swapped(one, other) or _names_swapped(one, other) else None


_CONFLICTS: Final = (_by_polarity, _by_ending, _by_numbers, _by_names, _by_rivals, _by_roles)
_OF_VALUES: Final = (_by_numbers, _by_names, _by_rivals)


def _changed_if(same_thing: bool) -> SameFact:
    return SameFact.CHANGED if same_thing else SameFact.DIFFERENT


def _bearers(wording: Wording) -> frozenset[str]:
    """Of whom a statement tells, where not of the user alone."""
    return wording.words & BEARERS


def likeness(a: str, b: str) -> SameFact:
    """SAME, UNSURE or DIFFERENT by how many content words are shared, whether both tell of the same one, and whether
    only one of them is for or against what it tells of."""
    if read(a).whose != read(b).whose:
        return SameFact.DIFFERENT
    one, other = read(a).words, read(b).words
    if not one or not other:
        return SameFact.UNSURE
    if (one ^ other) & _STANCES:
        return SameFact.DIFFERENT
    common, smaller, larger = len(one & other), *sorted((len(one), len(other)))
    near = _NEAR_EQUAL_LONG if smaller >= _LONG else _NEAR_EQUAL
    if (common == smaller and smaller >= _SUBSET * larger) or common / len(one | other) >= near:
        return SameFact.SAME
    return SameFact.UNSURE if common / smaller >= _UNRELATED else SameFact.DIFFERENT


def _swapped(one: Wording, other: Wording) -> bool:
    if not one.opening or not other.opening or one.opening == other.opening:
        return False
    return one.order[0] == other.order[-1] or other.order[0] == one.order[-1]


def _names_swapped(one: Wording, other: Wording) -> bool:
    """Whether names stand in another order, but for mere lists of them."""
    names = one.names | other.names
    here, there = ([w for w in order if w in names] for order in (one.order, other.order))
    return here != there and not (_in_a_row(here, one.order) and _in_a_row(there, other.order))


def _in_a_row(names: list[str], order: tuple[str, ...]) -> bool:
    places = [order.index(name) for name in names]
    return max(places) - min(places) == len(places) - 1


def _names_conflict(one: Wording, other: Wording) -> bool:
    """Whether each has a name that the other lacks; where they share one and much else differs, it is a rewording."""
    here, there = one.names - other.words, other.names - one.words
    if not here or not there:
        return False
    reworded = min(len(one.words - other.words - here), len(other.words - one.words - there)) >= _REWORDED
    return not (reworded and one.names & other.names)


def _particles_oppose(a: frozenset[str], b: frozenset[str]) -> bool:
    here, there = a - b, b - a
    return any((x in here and y in there) or (y in here and x in there) for x, y in lexicon.PARTICLES)


def _frame(one: Wording, other: Wording) -> float:
    """How much of what is not a value the shorter one shares with the other, from 0 to 1."""
    return _overlap(one.words - one.names, other.words - other.names)


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 1.0


def _numbers_conflict(a: frozenset[Quantity], b: frozenset[Quantity]) -> bool:
    """Whether each counts something otherwise than the other; a number without a unit may count anything but years."""
    here = {q for q in a if q.value not in {p.value for p in b}}
    there = {q for q in b if q.value not in {p.value for p in a}}
    return any(
        one.unit == other.unit or ("" in (one.unit, other.unit) and "year" not in (one.unit, other.unit))
        for one in here
        for other in there
    )


_Sides = tuple[frozenset[str], frozenset[str]]


def _sides(pairs: tuple[tuple[str, str], ...]) -> tuple[_Sides, ...]:
    return tuple((contents(left.split()), contents(right.split())) for left, right in pairs)


_OPPOSITES: Final = _sides(lexicon.OPPOSITES)
_STATES: Final = _sides(lexicon.STATES)
_OPPOSABLE: Final = frozenset(word for sides in _OPPOSITES for side in sides for word in side)
_CLASSES: Final = {content(word): name for name, words in lexicon.RIVALS.items() for word in words.split()}
_DATE_CLASSES: Final = frozenset({"day", "weekday", "month", "season", "daytime"})
_STANCES: Final = contents(lexicon.STANCES)
_HOLDING: Final = contents(lexicon.HOLDING)


def _negated_word(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether a word stands against itself with a prefix: happy, unhappy."""
    return any(prefix + word in b for word in a if len(word) > 3 for prefix in lexicon.PREFIXES)


def _oppose(a: frozenset[str], b: frozenset[str], pairs: tuple[_Sides, ...]) -> bool:
    return any((a & left and b & right) or (a & right and b & left) for left, right in pairs)


def _biased(a: Statement, b: Statement, policy: Policy) -> SameFact:
    if a.category != b.category:
        return SameFact.DIFFERENT
    one = {content(e.text.casefold()) for e in a.entities}
    other = {content(e.text.casefold()) for e in b.entities}
    if one and other and len(one & other) / len(one | other) >= policy.entity_overlap_same:
        return SameFact.SAME if _frame(read(a.summary), read(b.summary)) >= _SAME_FRAME else SameFact.UNSURE
    return SameFact.UNSURE


def _another_episode(a: Statement, b: Statement, said: SameFact, policy: Policy) -> SameFact:
    """Alike episodes further apart than the window are two episodes."""
    if MemoryType.EPISODIC not in (a.type, b.type) or said is SameFact.CHANGED:
        return said
    window = timedelta(hours=policy.episodic_merge_window_hours)
    return said if abs(a.occurred_at - b.occurred_at) <= window else SameFact.DIFFERENT
