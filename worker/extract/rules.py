"""The extractor that needs no language model: rules over a parse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import worker.extract.affect as affect
import worker.extract.language as language
from policies.language.parse import Parsed
from schema import (
    MAX_SUMMARY_CHARS,
    AdmissionAction,
    AdmittedTurn,
    Candidate,
    Context,
    Extraction,
    Fact,
    ForgetRequest,
    Kind,
    MemoryType,
    Turn,
)
from worker.extract.attributes import USER, attribute_facts
from worker.extract.classify import category_of, is_hedged, kind_of, topics_of, type_of
from worker.extract.dates import Dated, resolve_dates
from worker.extract.entities import entities_of
from worker.extract.facts import triple_of
from worker.extract.statements import Forgetting, Statement, statements_of
from worker.extract.third_person import Narrator, mended, told_of

VERSION: Final = "rules-1"
NAMELESS: Final = "The user"
_NAME = re.compile(
    r"\b[Mm]y (?:first )?name(?:'s|s| is) ([A-Z][\w'-]{1,40})|"
    r"(?:^|[.!?;,] |\b(?:[Pp]lease|just|can|may|to|and|so|on) )[Cc]all me ([A-Z][\w'-]{1,40})"
)
_INTRODUCTION = re.compile(
    r"^(?:(?:hi|hello|hey)\b[\s,!]{0,3}(?:there\b[\s,!]{0,3})?)?"
    r"(?:(?:i'm|i am|my (?:first )?name(?:'s| is)|this is) (?P<name>[^\W\d_][\w'-]{1,40})|"
    r"(?P<here>[^\W\d_][\w'-]{1,40}) (?:here|this side))"
    r"(?: and (?=i\b|my\b)|[,.!;]\s{0,3}(?=i\b|i'm\b|my\b|\d{1,2}\b|an? )|[.! ]{0,3}$)",
    re.IGNORECASE,
)
_NO_WORD = re.compile(r"[^\s\d_]{0,40}[\d_]")
"""How a sentence begins with a key, an address or a number: these are known by their letters as they stand."""
_OF_SELF = re.compile(r"(?:i|i'm|i've|my)\b", re.IGNORECASE)
_STATED: Final = 0.92
_ANSWERED: Final = 0.75
_HEDGED: Final = 0.7
SOURCE_CONFIDENCE: Final = {"chat": 1.0, "system": 0.95, "bank_api": 1.0, "external": 0.75, "instagram": 0.75}


def _name_in(turns: Sequence[AdmittedTurn], known: str | None) -> str:
    told = next((name for t in reversed(turns) if (name := t.turn.user_name())), None)
    if told:
        return told
    for admitted in turns:
        if match := _NAME.search(admitted.turn.text_of("user")[:4000]):
            return match.group(1) or match.group(2)
    return known or NAMELESS


def _sentence(text: str) -> str:
    text = text.strip(" ,;:-")
    if not text:
        return text
    if not _NO_WORD.match(text):
        text = text[0].upper() + text[1:]
    if text[-1] not in ".!?\"'":
        text += "."
    return text[:MAX_SUMMARY_CHARS]


def _introduces(said: Statement | Forgetting, name: str) -> bool:
    match = _INTRODUCTION.match(said.text)
    return match is not None and (match["name"] or match["here"]) == name


def _without_introduction(said: Statement | Forgetting, name: str) -> Statement | Forgetting | None:
    """What is left of a statement once its speaker, whose name is known anyway, has introduced themself; None if
    nothing is. A name that no message carries is worth a memory of its own."""
    if not isinstance(said, Statement) or not (match := _INTRODUCTION.match(said.text)):
        return said
    if (match["name"] or match["here"]).casefold() != name.casefold():
        return said
    rest = said.text[match.end() :]
    if rest:
        more = rest if _OF_SELF.match(rest) else f"I am {rest}"
        return replace(said, text=more[0].upper() + more[1:])
    return None if said.turn.user_name() else said


class RulesExtractor:
    """Makes candidates by rules: a parse for grammar, patterns for what matters. Safe for many threads.

    With `as_hints` most candidates are only read by a language model: then the recogniser of names, which costs as much
    as the rest, looks only at what the user ordered to be kept, for that is kept as it stands.
    """

    def __init__(self, categories: Sequence[str], *, as_hints: bool = False) -> None:
        self._categories = tuple(categories)
        self._as_hints = as_hints

    def prepare(self) -> None:
        """Load the models now rather than with the first turn (about two seconds)."""
        language.prepare()
        affect.prepare()

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        """What there is to remember or to forget in the turns, in the order in which it was said.

        Rules keep no topic open: what is said is taken as it stands.
        """
        name = _name_in(turns, context.name)
        asked = context.questions
        statements = [s for said in statements_of(turns, asked) if (s := _without_introduction(said, name)) is not None]
        dated = [resolve_dates(mended(s.text), s.turn.occurred_at) for s in statements]
        wanted = [isinstance(s, Statement) and (s.explicit or not self._as_hints) for s in statements]
        parses = language.parse([d.text for d in dated], wanted)
        by_turn: dict[str, list[Candidate | ForgetRequest]] = {}
        for statement, when, parsed in zip(statements, dated, parses, strict=True):
            items = by_turn.setdefault(statement.turn.turn_id, [])
            if isinstance(statement, Forgetting):
                what = _sentence(told_of(parsed, Narrator(name))).rstrip(".")
                items.append(ForgetRequest(turn_id=statement.turn.turn_id, ordinal=len(items), what=what))
                continue
            spoken_of = NAMELESS if _introduces(statement, name) else name
            candidate = self._candidate(statement, when, parsed, spoken_of, len(items))
            if not any(isinstance(c, Candidate) and c.summary == candidate.summary for c in items):
                items.append(candidate)
        found: list[Candidate | ForgetRequest] = []
        for admitted in turns:
            items = by_turn.get(admitted.turn.turn_id, [])
            if admitted.admission.action is not AdmissionAction.SKIP:
                items += self._pointers(admitted.turn, name, len(items))
            found += items
        return Extraction(items=tuple(found), model=VERSION)

    def _candidate(self, said: Statement, when: Dated, parsed: Parsed, name: str, ordinal: int) -> Candidate:
        assistant = next((m.name for m in said.turn.messages if m.role == "assistant" and m.name), None)
        told = told_of(parsed, Narrator(name, assistant))
        summary, kind, type_ = (
            _sentence(told),
            kind_of(when.text),
            type_of(when.text, dated=bool(when.moments), past=parsed.is_past()),
        )
        if said.manner == "answer":
            summary = f'Asked "{said.question}", {_inside(name)} said: {said.text.rstrip(".! ")}.'
            summary, type_ = summary[0].upper() + summary[1:MAX_SUMMARY_CHARS], MemoryType.SEMANTIC
        elif said.manner == "instruction":
            summary, kind, type_ = self._instruction(when.text, parsed, name)
        elif said.manner == "reminder":
            rest = told_of(parsed, Narrator(name, named=True))
            rest = re.sub(r"^(?:to|about|that|of) ", "", rest)
            joint = "to" if parsed.tokens and parsed.tokens[0].tag.startswith("VB") else "of"
            summary = _sentence(f"{name} wants to be reminded {joint} {rest[:1].lower() + rest[1:]}")
            kind, type_ = Kind.PROACTIVE_ACTION, MemoryType.EPISODIC
        if said.heard:
            summary = _with_note(summary, f'asked "{said.heard}"')
        if said.shared:
            summary = _with_note(summary, f"sent {said.shared}")
        topics = topics_of(when.text + (" " + said.question if said.question else ""))
        valence, intensity = affect.affect_of(said.text)
        facts = self._facts(said, when.text, parsed)
        if any(fact.attribute for fact in facts) and type_ is MemoryType.EPISODIC and not when.moments:
            type_ = MemoryType.SEMANTIC
        confidence = _ANSWERED if said.answered else _HEDGED if is_hedged(when.text) else _STATED
        return Candidate(
            turn_id=said.turn.turn_id,
            ordinal=ordinal,
            context_turn_ids=(said.asked_in,) if said.asked_in else (),
            type=type_,
            kind=kind,
            category=category_of(topics, self._categories),
            summary=summary,
            tags=topics or ("personal",),
            entities=tuple(e for e in entities_of(when.text, parsed, when.moments) if e.text not in (name, assistant)),
            facts=facts,
            source=said.turn.source,
            valence=valence,
            intensity=intensity,
            confidence=round(confidence * SOURCE_CONFIDENCE[said.turn.source], 3),
            occurred_at=_moment(when, said.turn.occurred_at),
            said_at=said.turn.occurred_at,
            explicit=said.explicit,
            private=said.private,
            pinned=said.pinned,
        )

    def _facts(self, said: Statement, text: str, parsed: Parsed) -> tuple[Fact, ...]:
        if said.manner == "answer":
            return ()
        if said.manner == "reminder":
            return (Fact(entity=USER, verb="wants to be reminded", object=text[:300]),)
        facts = attribute_facts(text)
        if facts:
            return facts
        triple = triple_of(parsed)
        return (triple,) if triple else ()

    def _instruction(self, text: str, parsed: Parsed, name: str) -> tuple[str, Kind, MemoryType]:
        if match := re.search(r"\b[Cc]all me ([\w'-]+)", text):
            return f"{name} wants to be called {match.group(1)}.", Kind.USER_PREFERENCE, MemoryType.SEMANTIC
        rest = told_of(parsed, Narrator(name, named=True))
        rest = re.sub(r"^(?:please,? |and )+", "", rest, flags=re.IGNORECASE)
        rest = re.sub(r",? please(?=[.!]?$)", "", rest, flags=re.IGNORECASE)
        rest = re.sub(
            r"^(from now on|going forward|in (?:the )?future),? (.*?)[.!]*$", r"\2 \1", rest, flags=re.IGNORECASE
        )
        rest = re.sub(r"^(?:don't|do not) ", "not to ", rest, flags=re.IGNORECASE)
        rest = re.sub(r"\byour\b", "its", rest)
        joint = "" if rest.startswith("not to ") else "to "
        summary = _sentence(f"{name} wants the assistant {joint}{rest[:1].lower() + rest[1:]}")
        return summary, Kind.AGENT_PROCEDURE, MemoryType.PROCEDURAL

    def _pointers(self, turn: Turn, name: str, ordinal: int) -> list[Candidate]:
        day = f"{turn.occurred_at.day} {turn.occurred_at:%B %Y}"
        found = []
        for number, attachment in enumerate(turn.attachments[:10]):
            sort = {"image": "an image", "audio": "a recording", "video": "a video"}.get(
                attachment.media_type.partition("/")[0], "a document"
            )
            title = f' titled "{attachment.title}"' if attachment.title else ""
            found.append(
                Candidate(
                    turn_id=turn.turn_id,
                    ordinal=ordinal + number,
                    type=MemoryType.EPISODIC,
                    kind=Kind.CONVERSATION_CONTEXT,
                    category=self._categories[-1],
                    summary=_sentence(f"{name} shared {sort}{title} on {day}"),
                    tags=("attachment", sort.split()[-1]),
                    source=turn.source,
                    confidence=round(_STATED * SOURCE_CONFIDENCE[turn.source], 3),
                    occurred_at=turn.occurred_at,
                    said_at=turn.occurred_at,
                )
            )
        return found


def _with_note(summary: str, note: str) -> str:
    """A summary with what it goes with in brackets, as long as there is room for it."""
    longer = f"{summary.rstrip('.! ')} ({note})."
    return longer if len(longer) <= MAX_SUMMARY_CHARS else summary


def _inside(name: str) -> str:
    return "the user" if name == NAMELESS else name


def _moment(when: Dated, spoken: datetime) -> datetime:
    return when.moments[0].at if len(when.moments) == 1 else spoken
