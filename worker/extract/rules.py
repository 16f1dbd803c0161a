"""The extractor that needs no language model: what is said is told of its speaker where the parse carries it, and
quoted where it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import memory.parser.english as language
import worker.extract.sentiment as sentiment
from policies.authority import SOURCE_CONFIDENCE
from policies.language.annotation import Note, notes_of, with_notes
from policies.language.clauses import main_clauses
from policies.language.coreference import is_of_several, pointer_of
from policies.language.discourse_markers import discourse_margins
from policies.language.fidelity import is_faithful
from policies.language.former_states import tells_of_a_former_state
from policies.language.languages import ENGLISH
from policies.language.narration import Narrator, narrated
from policies.language.parse import Parsed
from policies.language.people import Person, introduced_in
from policies.language.reading.attributes import USER
from policies.language.reading.entities import entities_of
from policies.language.reading.facts import facts_of
from policies.language.reading.of_user import as_heard_from
from policies.language.wording import read
from schema import (
    MAX_SUMMARY_CHARS,
    AdmissionAction,
    AdmittedTurn,
    Candidate,
    Certainty,
    Change,
    Context,
    Entity,
    Extraction,
    Fact,
    ForgetRequest,
    Kind,
    MemoryType,
    Naming,
    Question,
    Turn,
)
from stores.embedding.reading import read_as
from worker.extract.attachments import attachments_of
from worker.extract.classify import category_of, is_hedged, kind_of, topics_of, type_of
from worker.extract.forgetting import Forgetting, named_apart, told_on, without_aside
from worker.extract.judgement import Reader, judged, read_what_is_open
from worker.extract.news import said_as_news
from worker.extract.orders import called_in, instruction, name_told, reminder
from worker.extract.quotation import NAMELESS, ended, quotation, sentence
from worker.extract.statement import Statement
from worker.extract.statements import statements_of
from worker.extract.utterances import Utterance, heard_in

VERSION: Final = "rules-2"
_STATED: Final = 0.92
_ANSWERED: Final = 0.75
_HEDGED: Final = 0.7
_MAX_ITEMS_A_TURN: Final = 40


class RulesExtractor:
    """Makes candidates by rules. Safe for many threads; what a batch holds together changes nothing.

    Without a `reader` words alone say what is worth a memory, and what may ask for something to be forgotten.
    """

    def __init__(self, categories: Sequence[str], reader: Reader | None = None) -> None:
        self._categories = tuple(categories)
        self._reader = reader

    def prepare(self) -> None:
        """Load the models now rather than with the first turn (about two seconds)."""
        language.prepare()
        sentiment.prepare()
        if self._reader is not None:
            self._reader.read([read_as("hello")])

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        """Return what there is to remember or to forget in the turns, in the order in which it was said.

        Rules keep no topic open: what is said is taken as it stands.
        """
        questions: Mapping[str, Question] = context.questions
        by_turn: dict[str, list[Statement | Forgetting]] = {}
        messages = heard_in(turns, questions)
        if self._reader is not None:
            read_what_is_open(messages, self._reader)
        for heard in messages:
            by_turn.setdefault(heard.turn.turn_id, []).extend(statements_of(heard))
        said = said_as_news(messages)
        name = context.name
        extracted: list[Candidate | ForgetRequest] = []
        for admitted in turns:
            turn = admitted.turn
            stated = by_turn.get(turn.turn_id, [])
            introduced = next((n for item in stated if (n := name_told(item))), None)
            called = turn.user_name() or introduced or name or NAMELESS
            items = self._items(_not_introducing(stated, turn), called, said.get(turn.turn_id))
            if admitted.admission.action is not AdmissionAction.SKIP:
                confidence = round(_STATED * SOURCE_CONFIDENCE[turn.source], 3)
                items += attachments_of(turn, called, len(items), self._categories[-1], confidence)
            extracted += items
            name = _name_kept(items) or name
        return Extraction(items=tuple(extracted), model=VERSION)

    def _items(
        self, stated: Sequence[Statement | Forgetting], name: str, said: str | None
    ) -> list[Candidate | ForgetRequest]:
        items: list[Candidate | ForgetRequest] = []
        for statement in stated[:_MAX_ITEMS_A_TURN]:
            item = (
                self._forgetting(statement, name, len(items))
                if isinstance(statement, Forgetting)
                else self._candidate(statement, name, len(items), said)
            )
            if isinstance(item, Candidate) and any(
                isinstance(i, Candidate) and i.summary == item.summary for i in items
            ):
                continue
            items.append(item)
        return items

    def _forgetting(self, forgetting: Forgetting, name: str, ordinal: int) -> ForgetRequest:
        text, object_text = forgetting.text, None
        apart: tuple[str, ...] = ()
        if forgetting.utterance.language == ENGLISH and not forgetting.is_all and not forgetting.is_just_said:
            parsed = without_aside(*language.parse([forgetting.text]))
            text = parsed.text_of(range(len(parsed.tokens)))
            object_text, apart = narrated(parsed, Narrator(name)), named_apart(parsed)
        return ForgetRequest(
            turn_id=forgetting.utterance.turn.turn_id,
            ordinal=ordinal,
            what=sentence(object_text or text).rstrip("."),
            scope="all" if forgetting.is_all else "thing",
            whole=forgetting.is_whole,
            doubtful=forgetting.is_doubtful,
            just_said=forgetting.is_just_said,
            said_at=forgetting.utterance.turn.occurred_at,
            said_on=told_on(forgetting),
            said=forgetting.said,
            language=forgetting.utterance.language,
            only_as_read=forgetting.is_only_as_read,
            apart=apart,
            spares=forgetting.spares,
        )

    def _candidate(self, statement: Statement, name: str, ordinal: int, said: str | None) -> Candidate:
        turn = statement.last.turn
        if introduced_in(statement.last.part) == name:
            name = NAMELESS
        parses = _parses_of(statement)
        notes = [_notes(statement, utterance, part) for utterance, part in parses]
        text = (
            " ".join(part.text_of(range(len(part.tokens))) for _, part in parses)
            or statement.words
            or statement.last.text
        )
        retold = _narrated(statement, parses, notes, name)
        summary = _with_note(retold or _quoted(statement, name), statement.shared)
        dated = notes or [utterance.notes for utterance in statement.utterances]
        moments = [note.when.at for of_one in dated for note in of_one if note.when is not None]
        past = any(part.is_past() for _, part in parses)
        kind, type_ = kind_of(text), type_of(text, dated=bool(moments), past=past)
        if statement.manner == "answer":
            type_ = MemoryType.SEMANTIC
        elif statement.manner == "called" or (statement.manner == "instruction" and "wants to be called" in summary):
            kind, type_ = Kind.USER_PREFERENCE, MemoryType.SEMANTIC
        elif statement.manner == "instruction":
            kind, type_ = Kind.AGENT_PROCEDURE, MemoryType.PROCEDURAL
        elif statement.manner == "reminder":
            kind, type_ = Kind.PROACTIVE_ACTION, MemoryType.EPISODIC
        facts = _facts(statement, parses, text, name)
        has_begun = all(moment <= turn.occurred_at for moment in moments)
        if any(fact.attribute for fact in facts) and type_ is MemoryType.EPISODIC and has_begun:
            type_ = MemoryType.SEMANTIC
        topics = topics_of(text + (" " + statement.asked.text if statement.asked else ""))
        valence, intensity = sentiment.sentiment_of(text)
        confidence = _ANSWERED if statement.manner == "answer" else _HEDGED if is_hedged(text) else _STATED
        return Candidate(
            turn_id=turn.turn_id,
            ordinal=ordinal,
            context_turn_ids=(statement.asked.turn_id,) if statement.asked and statement.asked.turn_id else (),
            type=type_,
            kind=kind,
            category=category_of(topics, self._categories),
            summary=summary,
            tags=topics or ("personal",),
            entities=_entities(parses, notes, name),
            facts=facts,
            source=turn.source,
            valence=valence,
            intensity=intensity,
            confidence=round(confidence * SOURCE_CONFIDENCE[turn.source], 3),
            occurred_at=moments[0] if len(moments) == 1 else turn.occurred_at,
            said_at=turn.occurred_at,
            explicit=statement.explicit,
            private=statement.private,
            pinned=statement.pinned,
            certainty=_certainty(statement, parses),
            change=Change.CORRECTS if statement.manner == "correction" else Change.NONE,
            only_as_news=statement.only_as_news,
            news=max(
                (judged(utterance).news for utterance in statement.utterances if utterance.parsed is not None),
                default=0.0,
            ),
            quoted=retold is None,
            unless_forgotten=statement.unless_forgotten,
            naming=_naming(statement),
            language=statement.last.language,
            said=None if statement.is_of_others else said,
        )


def _certainty(statement: Statement, parses: Parses) -> Certainty:
    """Return how certain what is stated is: what another says stands beside what the user said, and takes the place of
    nothing, and what was so at a time that is over that of nothing that is."""
    if statement.is_of_others:
        return Certainty.SUPPOSITION
    at = statement.last.turn.occurred_at
    said = " ".join(utterance.text for utterance, _ in parses)
    is_over = tells_of_a_former_state(said, [parsed for _, parsed in parses], at, at)
    return Certainty.PAST if is_over else Certainty.FACT


def _name_kept(items: Sequence[Candidate | ForgetRequest]) -> str | None:
    """Return the name that later turns know the user by, whichever batch they are in: the one that is remembered."""
    facts = (fact for item in reversed(items) if isinstance(item, Candidate) for fact in item.facts)
    return next((f.object for f in facts if f.entity == USER and f.attribute in ("name", "preferred_name")), None)


def _not_introducing(stated: Sequence[Statement | Forgetting], turn: Turn) -> list[Statement | Forgetting]:
    """Return what was stated but for an introduction by the name that the messages carry anyway."""
    user_name = turn.user_name()
    return [
        item
        for item in stated
        if user_name is None or not isinstance(item, Statement) or introduced_in(item.last.part, user_name) != user_name
    ]


def _naming(statement: Statement) -> Naming | None:
    """Return what a statement only names; None where its words tell something of it: "that my shoe size is 42"."""
    naming = statement.naming
    if naming is None or naming.tells_nothing:
        return naming
    if statement.last.language != ENGLISH:
        return None
    (parsed,) = language.parse([naming.what])
    return None if main_clauses(parsed) or read(naming.what).quantities else naming


Parses = list[tuple[Utterance, Parsed]]


def _parses_of(statement: Statement) -> Parses:
    """Return the utterances of a statement, each with what of its parse is to be told; of an order, what it is
    about."""
    if statement.last.language != ENGLISH:
        return []
    if statement.words is not None:
        (parsed,) = language.parse([statement.words])
        return [(statement.last, parsed.slice(*discourse_margins(parsed)))]
    return [(utterance, part) for utterance in statement.utterances if (part := utterance.part) is not None]


def _notes(statement: Statement, utterance: Utterance, part: Parsed) -> tuple[Note, ...]:
    if statement.words is not None:
        return notes_of(part, part.text_of(range(len(part.tokens))), utterance.turn.occurred_at)
    return utterance.notes


def _narrated(statement: Statement, parses: Parses, notes: Sequence[tuple[Note, ...]], name: str) -> str | None:
    """Return a statement told of its speaker, None where it is to be quoted."""
    if statement.manner in ("called", "instruction", "reminder"):
        return _order_told(statement, parses, notes, name)
    if (
        statement.manner == "answer"
        or statement.quote
        or any(utterance.of_others or is_of_several(part) for utterance, part in parses)
        or not parses
    ):
        return None
    assistant = statement.last.other
    narrator = Narrator(name, assistant)
    pieces = []
    for index, ((_, parsed), parse_notes) in enumerate(zip(parses, notes, strict=True)):
        piece = narrated(parsed, narrator, parse_notes, _reference(parsed, statement.refers.get(index), name))
        if piece is None:
            return None
        pieces.append(ended(piece[:1].upper() + piece[1:]))
    summary = sentence(" ".join(pieces))
    heard = " ".join(utterance.spelt.plain for utterance, _ in parses)
    names = (
        name,
        assistant or "",
        *(person.phrase for person in statement.refers.values()),
        *(n.text for parse_notes in notes for n in parse_notes),
    )
    if not is_faithful(summary, f"{heard} {statement.words or ''}", names):
        return None
    return f'{summary.rstrip(".! ")} (asked "{statement.asked.text}").' if statement.asked else summary


def _order_told(statement: Statement, parses: Parses, notes: Sequence[tuple[Note, ...]], name: str) -> str | None:
    if statement.manner == "called":
        return f"{name} wants to be called {statement.words}."
    if statement.quote or not parses:
        return None
    written = instruction if statement.manner == "instruction" else reminder
    return written(parses[0][1], notes[0], name)


def _reference(parsed: Parsed, person: Person | None, name: str) -> dict[int, str]:
    """Return, by the index of its token, the name of whom a pronoun stands for."""
    pointer = pointer_of(parsed)
    if person is None or pointer is None:
        return {}
    phrase = person.told_of(name)
    if parsed.tokens[pointer].tag == "PRP$":
        phrase += "'" if phrase.endswith("s") else "'s"
    return {pointer: phrase}


def _with_note(summary: str, shared: str | None) -> str:
    """Return the summary with what was sent along, as long as there is room for it."""
    quoted = summary.endswith('"')
    longer = f"{summary if quoted else summary.rstrip('.! ')} (sent {shared})."
    return longer if shared and len(longer) <= MAX_SUMMARY_CHARS else summary


def _quoted(statement: Statement, name: str) -> str:
    """Return a statement in the speaker's own words, with its dates in brackets and the question that it answers."""
    return quotation(statement.words or _as_typed(statement), name, statement.asked.text if statement.asked else None)


def _as_typed(statement: Statement) -> str:
    pieces = []
    for utterance in statement.utterances:
        text = " ".join(utterance.text.split())
        places = {note.end: at for note in utterance.notes if (at := _typed_end(note, utterance, text)) is not None}
        text = with_notes(text, [note for note in utterance.notes if note.end in places], places)
        pieces.append(text)
    return " ".join(ended(piece) if number < len(pieces) - 1 else piece for number, piece in enumerate(pieces))


def _typed_end(note: Note, utterance: Utterance, text: str) -> int | None:
    """Return where the words of a note end as they were typed; None where that is not sure: what an utterance quotes of
    others was not parsed with it."""
    begin, end = note.start + utterance.shift, note.end + utterance.shift
    if not utterance.of_others:
        return utterance.spelt.typed(end)
    words = utterance.spelt.plain[begin:end]
    return text.index(words) + len(words) if text.count(words) == 1 else None


def _facts(statement: Statement, parses: Parses, text: str, name: str) -> tuple[Fact, ...]:
    if statement.manner == "reminder":
        joint, _, rest = text.strip().partition(" ")
        if joint not in ("to", "of", "about") or not rest:
            joint, rest = "", text.strip()
        return (Fact(entity=USER, verb=f"wants to be reminded {joint}".strip(), object=rest[:300]),) if rest else ()
    if statement.last.language != ENGLISH:
        return ()
    if statement.manner in ("instruction", "called"):
        called = (
            statement.words
            if statement.manner == "called"
            else called_in(parses[0][1])
            if parses and not statement.quote
            else None
        )
        return (
            (Fact(entity=USER, verb="wants to be called", object=called[:300], attribute="preferred_name"),)
            if called
            else ()
        )
    if statement.is_of_others:
        return ()
    heard = as_heard_from(statement.last.turn.source, [parsed for _, parsed in parses], name)
    laughed = any(utterance.laughed for utterance, _ in parses)
    return facts_of(heard, answered=statement.manner == "answer", laughed=laughed)


def _entities(parses: Parses, notes: Sequence[tuple[Note, ...]], name: str) -> tuple[Entity, ...]:
    entities: dict[str, Entity] = {}
    for (_, parsed), parse_notes in zip(parses, notes, strict=True):
        for entity in entities_of(parsed, parse_notes):
            if entity.text != name:
                entities.setdefault(entity.text, entity)
    return tuple(entities.values())[:12]
