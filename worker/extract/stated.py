"""What the summaries themselves state that has one value at a time, whoever wrote them.

A language model may leave the facts of a memory out, or name them as it pleases; a changed fact is found by its
attribute. So each summary is read once more: told back in the first person, it goes by the same patterns as what people
say of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.schema import Candidate, Extraction, Fact, ForgetRequest
from worker.extract.attributes import attribute_facts
from worker.extract.base import AdmittedTurn

_MAX_FACTS: Final = 8
_RELATIVES: Final = (
    "mother|father|mom|mum|dad|wife|husband|partner|girlfriend|boyfriend|fiance|fiancee|sister|brother|son|daughter|"
    "grandmother|grandfather|grandma|grandpa|boss|roommate|flatmate|best friend"
)
_OF_RELATIVE = re.compile(rf"^my (?P<who>(?:{_RELATIVES})(?: (?-i:[A-Z])[\w'-]+)?)\b(?P<own>'s)? ?", re.IGNORECASE)
_ADVERBS = r"(?:(?:now|currently|just|recently|finally|still|actually|also|already|really|both|mostly|no longer) )*"
_VERBS = re.compile(rf"\bI (?P<adverbs>{_ADVERBS})(?P<verb>[a-z]+)")
_SECOND_VERB = re.compile(
    rf"(?P<joint>,? (?:and|but|then) )(?P<adverbs>{_ADVERBS})(?P<verb>is|has|lives|works|drives|uses|owns|eats|follows|"
    r"studies|attends|banks|weighs|pays|earns|makes|goes|joined|moved|bought|got|started|became|switched|transferred|"
    r"turned)\b"
)
_TWO: Final = 2
_TWO_THINGS = re.compile(
    rf"(?P<first>[^.;:!?()\"]{{8,200}}?),? and (?P<second>{_ADVERBS}(?:is|has|lives|works|drives|uses|owns|"
    r"follows|studies|attends|weighs|pays|earns|joined|moved|bought|switched|transferred)\b[^.;:!?()\"]{3,200}?)[.!]?"
)
_PRONOUNS: Final = (
    (re.compile(r"\b(?:their|his|her)\b"), "my"),
    (re.compile(r"\b(?:they|he|she)\b"), "I"),
)
_PLAIN: Final = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was", "doesn": "don"}


def with_stated_facts(extraction: Extraction, turns: Sequence[AdmittedTurn], name: str | None) -> Extraction:
    """The extraction with what its summaries state added to the facts of each candidate.

    `name` is what the user is known to be called; the turns may name them too.
    """
    names = {told for one in turns if (told := one.turn.user_name())} | ({name} if name else set())
    items: list[Candidate | ForgetRequest] = []
    more: list[Candidate] = []
    for item in extraction.items:
        if isinstance(item, Candidate):
            first, *rest = _apart(_with_facts(item, names), names)
            items.append(first)
            more += rest
        else:
            items.append(item)
    for candidate in more:
        ordinal = 1 + max(item.ordinal for item in items if item.turn_id == candidate.turn_id)
        items.append(candidate.model_copy(update={"ordinal": ordinal}))
    return extraction.model_copy(update={"items": tuple(items)})


def _apart(candidate: Candidate, names: Iterable[str]) -> list[Candidate]:
    """The candidate, or two of it where its summary states two things that change each by itself: "Ana lives in Oslo
    and works at Equinor." One of them may become untrue without the other."""
    if len({fact.attribute for fact in candidate.facts if fact.attribute}) < _TWO or candidate.private:
        return [candidate]
    match = _TWO_THINGS.fullmatch(candidate.summary)
    if match is None or not (subject := _subject(candidate.summary, names)):
        return [candidate]
    parts = []
    for summary in (f"{match['first']}.", f"{subject} {match['second']}."):
        stated = {fact.attribute for fact in stated_facts(summary, names)}
        parts.append((summary, tuple(fact for fact in candidate.facts if fact.attribute in stated and fact.attribute)))
    (_, one), (_, other) = parts
    if not one or not other or {fact.attribute for fact in one} & {fact.attribute for fact in other}:
        return [candidate]
    if len(one) + len(other) < len(candidate.facts):
        return [candidate]
    return [
        candidate.model_copy(
            update={
                "summary": summary,
                "facts": facts,
                "entities": tuple(entity for entity in candidate.entities if entity.text in summary),
            }
        )
        for summary, facts in parts
    ]


def _subject(summary: str, names: Iterable[str]) -> str | None:
    """Of whom a summary tells, if it begins with that: the user, or a relative of theirs."""
    who = "|".join(["[Tt]he user", *(re.escape(name) for name in sorted(names, key=len, reverse=True))])
    match = re.match(rf"(?:{who})(?:(?:'s|’s) (?:{_RELATIVES})(?: [A-Z][\w'-]+)?)?(?= (?!and\b))", summary)
    return match[0] if match else None


def _with_facts(candidate: Candidate, names: Iterable[str]) -> Candidate:
    known = {(fact.entity.casefold(), fact.attribute) for fact in candidate.facts if fact.attribute}
    stated = [fact for fact in stated_facts(candidate.summary, names) if (fact.entity, fact.attribute) not in known]
    if not stated:
        return candidate
    return candidate.model_copy(update={"facts": (*candidate.facts, *stated[:_MAX_FACTS])})


def stated_facts(summary: str, names: Iterable[str] = ()) -> tuple[Fact, ...]:
    """What a summary says of the user, or of a relative, that has one value at a time.

    "The user moved to Berlin." gives home_city Berlin of the user, "The user's sister moved to Berlin." that of the
    user's sister. `names` are what the summary may call the user.
    """
    text = _first_person(summary, names)
    if text is None:
        return ()
    facts = attribute_facts(text)
    if facts or not (match := _OF_RELATIVE.match(text)):
        return facts
    rest = text[match.end() :]
    told = _VERBS.sub(_plain, f"My {rest}" if match["own"] else _with_subjects(f"I {rest}"))
    entity = f"user's {match['who'].lower()}"
    return tuple(fact.model_copy(update={"entity": entity}) for fact in attribute_facts(told))


def _first_person(summary: str, names: Iterable[str]) -> str | None:
    """The summary as the user would say it, as far as the patterns need; None if it does not speak of the user."""
    who = "|".join(["[Tt]he user", *(re.escape(name) for name in sorted(names, key=len, reverse=True))])
    text, owned = re.subn(rf"\b(?:{who})(?:'s|’s)", "my", summary)
    text, acting = re.subn(rf"\b(?:{who})\b", "I", text)
    if not owned and not acting:
        return None
    for pattern, own in _PRONOUNS:
        text = pattern.sub(own, text)
    if not _OF_RELATIVE.match(text):
        text = _with_subjects(text)
    text = _VERBS.sub(_plain, text)
    return text[0].upper() + text[1:]


def _with_subjects(text: str) -> str:
    return _SECOND_VERB.sub(r"\g<joint>I \g<adverbs>\g<verb>", text)


def _plain(match: re.Match[str]) -> str:
    """A verb in the third person as the first person has it."""
    verb = match["verb"]
    if verb in _PLAIN:
        verb = _PLAIN[verb]
    elif verb.endswith("ies") and len(verb) > 4:
        verb = verb[:-3] + "y"
    elif verb.endswith(("sses", "shes", "ches", "xes", "zes")):
        verb = verb[:-2]
    elif verb.endswith("s") and not verb.endswith(("ss", "us", "is")):
        verb = verb[:-1]
    return f"I {match['adverbs']}{verb}"
