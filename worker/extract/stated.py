"""What the summaries themselves state that has one value at a time, whoever wrote them.

A language model may leave the facts of a memory out, or name them as it pleases; a changed fact is found by its
attribute. So each summary is read once more: told back in the first person, it goes by the same patterns as what people
say of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from schema import AdmittedTurn, Candidate, Extraction, Fact, ForgetRequest
from worker.extract.attributes import attribute_facts

_MAX_FACTS: Final = 8
_RELATIVES: Final = (
    "mother|father|mom|mum|dad|wife|husband|partner|girlfriend|boyfriend|fiance|fiancee|sister|brother|son|daughter|"
    "grandmother|grandfather|grandma|grandpa|boss|roommate|flatmate|best friend"
)
_OF_RELATIVE = re.compile(rf"^my (?P<who>(?:{_RELATIVES})(?: (?-i:[A-Z])[\w'-]+)?)\b(?P<own>'s)? ?", re.IGNORECASE)
_ADVERBS = r"(?:(?:now|currently|just|recently|finally|still|actually|also|already|really|both|mostly|no longer) )*"
_VERBS = re.compile(rf"\bI (?P<adverbs>{_ADVERBS})(?P<verb>[a-z]+)")
_CHANGING: Final = (
    r"(?:is|has|lives|works|drives|uses|owns|eats|follows|studies|attends|banks|weighs|pays|earns|makes|goes|joined|"
    r"moved|bought|got|started|became|switched|transferred|turned)"
)
_LASTING: Final = r"(?:has|loves|likes|hates|dislikes|enjoys|prefers|plays|speaks|collects|wants|needs|hopes|plans)"
_SECOND_VERB = re.compile(rf"(?P<joint>,? (?:and|but|then) |, )(?P<adverbs>{_ADVERBS})(?P<verb>{_CHANGING})\b")
_CUT = re.compile(rf"(?:,? (?:and|but) |, )(?={_ADVERBS}(?:(?P<lasting>{_LASTING})|{_CHANGING})\b)")
_PLAIN_SENTENCE = re.compile(r"[^.;:!?()\"]{8,400}")
_BESIDE = re.compile(rf"^(?P<who>[^,]{{1,80}}), (?P<what>\d{{1,3}}|an? [^,]{{2,60}}), (?={_ADVERBS}{_CHANGING}\b)")
"""What is said of somebody between commas: "Ana, 34, lives in Oslo"."""
_LEANS = re.compile(r"\b(?:it|them|there|that|this|those|these|him)\b", re.IGNORECASE)
_INNER_CLAUSE = re.compile(
    r"\b(?:that|which|who|whose|where|because|when|while|if|so|says?|said|thinks?|hopes?|told|since(?! \w* ?\d))\b"
)
"""After these a verb may have another subject, or go with what stands before it."""
_REPORTED = re.compile(r"\bI (?:said|says?|told|tells?|thinks?|heard?s?|knows?|hopes?)\b")
_ENDS = re.compile(
    r"\b(?:left|quit|sold|changed|switched|swapped|traded|replaced|stopped|dropped|resigned|retired|finished|ended|"
    r"gave up|broke up)\b"
)
"""What has ended is told with what came in its place: "left Oslo and now lives in Bergen" is one thing."""
_PRONOUNS: Final = (
    (re.compile(r"\b(?:their|his|her)\b"), "my"),
    (re.compile(r"\b(?:they're|(?:he|she)'s)(?= (?:an?|the|now|\d)\b)"), "I am"),
    (re.compile(r"\b(?:they|he|she)\b"), "I"),
)
_ONE_BEING = re.compile(
    rf"\b(?:{_RELATIVES}|friend|colleague|neighbou?r|uncle|aunt|niece|nephew|cousin|ex|teacher|doctor|coach|baby|dog|cat|"
    r"puppy|kitten|horse|parrot|rabbit|hamster|bird|pony)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:parents|kids|children|sons|daughters|brothers|sisters|friends|grandparents|cousins|twins|colleagues|"
    r"neighbou?rs|in-laws|dogs|cats)\b",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    rf"^my (?:[\w'-]+ )?(?:{_RELATIVES}|parents|kids|children|sons|daughters|brothers|sisters|friends?|grandparents|"
    rf"cousins?|twins|colleagues?|neighbou?rs?|in-laws|family|uncle|aunt|niece|nephew|ex)\b",
    re.IGNORECASE,
)
"""A beginning after which "they" and "she" are not the user."""
_SUBJECTS_END = re.compile(rf"(?:(?:'s|’s) (?:{_RELATIVES})(?: [A-Z][\w'-]+)?)?(?= (?!and\b))")
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
    """The candidate, or one for each thing that its summary states and that changes by itself: "Ana lives in Oslo, owns
    a Volvo and loves hiking." One of them may become untrue without the others."""
    if candidate.private or not any(fact.attribute for fact in candidate.facts):
        return [candidate]
    text = _BESIDE.sub(r"\g<who> is \g<what>, ", candidate.summary.rstrip(".! "))
    if not _PLAIN_SENTENCE.fullmatch(text) or not (subject := _subject(text, names)):
        return [candidate]
    parts = _parts(text, subject, names)
    stated = [{(fact.entity, fact.attribute) for fact in stated_facts(part, names)} for part in parts]
    facts = [tuple(fact for fact in candidate.facts if _place(fact, parts, stated) == n) for n in range(len(parts))]
    twice = len(set().union(*stated)) < sum(map(len, stated))
    if len(parts) < 2 or twice or sum(map(len, facts)) < len(candidate.facts):
        return [candidate]
    return [
        candidate.model_copy(
            update={
                "summary": summary,
                "facts": some,
                "entities": tuple(entity for entity in candidate.entities if entity.text in summary),
            }
        )
        for summary, some in zip(parts, facts, strict=True)
    ]


def _parts(text: str, subject: str, names: Iterable[str]) -> list[str]:
    """The sentences of which a sentence is made, each with its subject; one where it is one."""
    parts: list[str] = []
    begin = 0
    for cut in _CUT.finditer(text):
        before, after = text[begin : cut.start()], text[cut.end() :]
        following = after[: following_cut.start()] if (following_cut := _CUT.search(after)) else after
        states = cut["lasting"] or stated_facts(f"{subject} {following}.", names)
        if states and not any((_LEANS.search(following), _INNER_CLAUSE.search(before), _ENDS.search(before))):
            parts.append(before)
            begin = cut.end()
    parts.append(text[begin:])
    return [f"{part}." if n == 0 else f"{subject} {part}." for n, part in enumerate(parts)]


def _place(fact: Fact, parts: Sequence[str], stated: Sequence[set[tuple[str, str | None]]]) -> int | None:
    """Which of the parts says a fact."""
    saying = [n for n, part in enumerate(parts) if fact.object.casefold() in part.casefold()]
    stating = [n for n in saying if (fact.entity, fact.attribute) in stated[n]]
    return next(iter((*stating, *saying)), None)


def _subject(summary: str, names: Iterable[str]) -> str | None:
    """Of whom a summary tells, if it begins with that: the user, or a relative of theirs."""
    for who in ("The user", "the user", *sorted(names, key=len, reverse=True)):
        if summary.startswith(who) and (match := _SUBJECTS_END.match(summary, len(who))):
            return summary[: match.end()]
    return None


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
    rest = _with_pronouns(text[match.end() :])
    told = _VERBS.sub(_plain, f"My {rest}" if match["own"] else _with_subjects(f"I {rest}"))
    entity = f"user's {match['who'].lower()}"
    return tuple(fact.model_copy(update={"entity": entity}) for fact in attribute_facts(told))


def _first_person(summary: str, names: Iterable[str]) -> str | None:
    """The summary as the user would say it, as far as the patterns need; None if it does not speak of the user."""
    who = "|".join(["[Tt]he user", *(re.escape(name) for name in sorted(names, key=len, reverse=True))])
    text, named = re.subn(rf"\b(?:{who})(?:(?P<own>'s|’s)|\b)", lambda match: "my" if match["own"] else "I", summary)
    if not named:
        return None
    text = _BESIDE.sub(r"\g<who> am \g<what>, ", text)
    if not _OF_OTHERS.match(text):
        text = _with_pronouns(text)
    if not _OF_RELATIVE.match(text):
        text = _with_subjects(text)
    text = _VERBS.sub(_plain, text)
    return text[0].upper() + text[1:]


def _with_pronouns(text: str) -> str:
    for pattern, own in _PRONOUNS:
        text = pattern.sub(lambda match, own=own: match[0] if _of_another(match) else own, text)  # type: ignore[misc]
    return text


def _of_another(match: re.Match[str]) -> bool:
    """Whether a pronoun stands for somebody who was spoken of before it: "a dog, her name is Rex"."""
    beings = _SEVERAL if match[0].lower().startswith("the") else _ONE_BEING
    return beings.search(match.string, 0, match.start()) is not None


def _with_subjects(text: str) -> str:
    """What the user does beside the first thing, with its subject; not what they say that others do."""
    return text if _REPORTED.search(text) else _SECOND_VERB.sub(r"\g<joint>I \g<adverbs>\g<verb>", text)


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
