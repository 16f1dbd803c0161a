"""The statements in a turn that are worth a memory, still in the user's own first person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from policies.admission import is_english
from policies.language.beside import told_beside
from policies.language.commands import Command, find_commands
from policies.language.relevance import WORTH_KEEPING, asks, asks_about_user, is_instruction, relevance_of
from policies.language.sentences import MAX_SENTENCE_CHARS, MAX_SENTENCES, Sentence, prose_of, split_sentences
from schema import AdmissionAction, AdmittedTurn, Question, Turn
from worker.extract.answers import answer_of, question_of
from worker.extract.clauses import clauses_of, is_chitchat, whole, without_asides
from worker.extract.corrections import corrects
from worker.extract.kin import kin_in, kin_resolved
from worker.extract.leaning import elaborates, heard_in, leans, shared_in, support_of, takes_up
from worker.extract.third_person import mended

_MAX_JOINED_CHARS: Final = 320
"""How long sentences may be together that are one memory because the later ones lean on the first."""
_LAST_REPLY: Final = 1
"""The last sentence, from 0, that may be what answers a question: the first is often "Thanks!"."""


@dataclass(frozen=True)
class Statement:
    """One thing that a user said: a sentence, with those that lean on it.

    `sentence` is the place in the message of the last of them, `heard` a question of the other side's to which it
    replies, `shared` what was sent along.
    """

    turn: Turn
    place: int
    text: str
    explicit: bool = False
    pinned: bool = False
    private: bool = False
    answered: bool = False
    manner: str = "said"
    asked_in: str | None = None
    question: str | None = None
    sentence: int = -1
    heard: str | None = None
    shared: str | None = None


@dataclass(frozen=True)
class Forgetting:
    """What a user wants forgotten, in the first person."""

    turn: Turn
    place: int
    text: str


@dataclass
class _Asked:
    question: str | None = None
    turn_id: str | None = None
    of_user: bool = False
    heard: str | None = None
    anything: bool = False


def _asked_in(turn_id: str, text: str) -> _Asked:
    return _Asked(question_of(text), turn_id, asks_about_user(text), heard_in(text), asks(text))


def _ordered(
    command: Command, turn: Turn, place: int, sentence: Sentence, number: int, assistant: str | None
) -> list[Statement | Forgetting]:
    """What an order asks to be kept or forgotten, and what its sentence says beside what is to be forgotten."""
    if command.verb == "forget":
        rest = sentence.text[max(command.end - sentence.start, 0) :].strip(" ,;:-.")
        beside = _from_sentence(turn, rest, _Asked(), assistant, place, number) if rest else []
        return [*([Forgetting(turn, place, command.object_text)] if command.object_text else []), *beside]
    text = mended(command.object_text)[:MAX_SENTENCE_CHARS]
    if not text:
        return []
    manner = "reminder" if command.verb == "remind" else "said"
    return [Statement(turn, place, text, explicit=True, pinned=command.verb == "pin", manner=manner)]


def _statements_of(
    turn: Turn, message: str, asked: _Asked, assistant: str | None, place: int
) -> list[Statement | Forgetting]:
    commands = find_commands(message)
    private = any(command.verb == "private" for command in commands)
    orders = [c for c in commands if c.verb in ("remember", "remind", "pin", "forget")]
    wishes = [c.start for c in commands if c.verb in ("block", "unblock")]
    found: list[Statement | Forgetting] = []
    used: set[int] = set()
    sentences = split_sentences(prose_of(message))
    kin = [kin_in(asked.question or ""), []]
    for number, sentence in enumerate(sentences):
        end = sentence.start + len(sentence.text)
        hit = next((i for i, c in enumerate(orders) if sentence.start <= c.start < max(end, sentence.start + 1)), None)
        if hit is not None:
            if hit not in used:
                used.add(hit)
                found += _ordered(orders[hit], turn, place, sentence, number, assistant)
            continue
        ordered = any(c.start <= sentence.start and end <= c.end for c in orders)
        if ordered or any(sentence.start <= start < end for start in wishes) or not is_english(sentence.text):
            continue
        said = kin_resolved(sentence.text, [*kin[-2], *kin[-1]] if kin[-1] == [] else kin[-1])
        kin.append(kin_in(said))
        for command in commands:
            if command.verb == "private" and sentence.start <= command.start < end and command.object_text:
                said = command.object_text
        if found and isinstance(last := found[-1], Statement) and (right := corrects(said, last.text)):
            found[-1] = replace(last, text=right, sentence=number)
            continue
        said_so = _from_sentence(turn, said, asked if number < 2 else _Asked(), assistant, place, number)
        found = _with_more(found, said_so, said, number, assistant)
    found = _standing(found, _without_commands(sentences, commands), asked, assistant)
    found = _with_shared(found, shared_in(message))
    if private:
        found = [_private(item) for item in found]
    return found


def _private(item: Statement | Forgetting) -> Statement | Forgetting:
    return item if isinstance(item, Forgetting) else replace(item, private=True)


def _standing(
    found: Sequence[Statement | Forgetting], sentences: Sequence[str], asked: _Asked, assistant: str | None
) -> list[Statement | Forgetting]:
    """Statements that can be understood by themselves.

    One that leans on what was said before it is joined to that; the first after a question names the question.
    """
    standing: list[Statement | Forgetting] = []
    for item in found:
        if not isinstance(item, Statement) or item.manner != "said" or item.explicit:
            standing.append(item)
            continue
        text, replies = item.text, not standing and not item.answered and item.sentence <= _LAST_REPLY
        if leans(text):
            if standing and _tells_more(last := standing[-1], text, item.sentence):
                standing[-1] = replace(last, text=f"{_ended(last.text)} {text}", sentence=item.sentence)
                continue
            before = sentences[item.sentence - 1] if 0 < item.sentence < len(sentences) else ""
            if support := support_of(before, assistant):
                text = f"{_ended(mended(support))} {text}"
        if replies and asked.heard and (asked.of_user or takes_up(item.text, asked.heard)):
            standing.append(replace(item, text=text, heard=asked.heard, asked_in=asked.turn_id))
        else:
            standing.append(replace(item, text=text))
    return standing


def _with_more(
    found: list[Statement | Forgetting],
    said_so: Sequence[Statement | Forgetting],
    said: str,
    number: int,
    assistant: str | None,
) -> list[Statement | Forgetting]:
    """What was found so far with what came of one more sentence; one that only goes on with the last is added to it."""
    if said_so:
        return found + [replace(one, sentence=number) if isinstance(one, Statement) else one for one in said_so]
    if found and elaborates(said) and _tells_more(last := found[-1], said, number):
        text = f"{_ended(last.text)} {mended(without_asides(said, assistant))}"
        return [*found[:-1], replace(last, text=text, sentence=number)]
    return found


def _without_commands(sentences: Sequence[Sentence], commands: Sequence[Command]) -> list[str]:
    """The sentences of a message, "" for one that tells the memory what to do or is in another language: it explains
    no other."""

    def explains(one: Sentence) -> bool:
        told = any(one.start <= command.end and command.start < one.start + len(one.text) for command in commands)
        return not told and is_english(one.text)

    return [one.text if explains(one) else "" for one in sentences]


def _with_shared(found: list[Statement | Forgetting], what: str | None) -> list[Statement | Forgetting]:
    """Statements of a message of which the last names what was sent with it."""
    last = found[-1] if found else None
    if what is None or not isinstance(last, Statement) or last.explicit:
        return found
    return [*found[:-1], replace(last, shared=what)]


def _tells_more(last: Statement | Forgetting, text: str, number: int) -> TypeGuard[Statement]:
    """Whether a sentence may go on with the statement before it."""
    return (
        isinstance(last, Statement)
        and last.manner == "said"
        and not last.explicit
        and 0 <= number - last.sentence <= 1
        and len(last.text) + len(text) <= _MAX_JOINED_CHARS
    )


def _ended(text: str) -> str:
    return text if text[-1:] in ".!?" else f"{text}."


def _stands(clause: str, asked: _Asked) -> bool:
    judged = relevance_of(clause, after_question=asked.of_user, replying=asked.anything)
    return judged.points >= WORTH_KEEPING - 0.5 and "impersonal" not in judged.reasons


def _answered(turn: Turn, text: str, asked: _Asked, place: int) -> list[Statement | Forgetting] | None:
    """The statement made by answering, None when the sentence answers nothing by itself."""
    if asked.question is None or (answer := answer_of(asked.question, mended(text))) is None:
        return None
    if not answer.reply:
        return []
    manner = "said" if answer.statement else "answer"
    said = mended(answer.statement) if answer.statement else answer.reply
    return [
        Statement(turn, place, said, answered=True, manner=manner, asked_in=asked.turn_id, question=answer.question)
    ]


def _quoted(turn: Turn, text: str, asked: _Asked, reasons: Sequence[str], place: int) -> list[Statement | Forgetting]:
    """A bare answer with its question, unless it only reacts."""
    told = {"name", "number"} & set(reasons)
    if {"reaction", "suggestion", "about_you"} & set(reasons) or ("exclamation" in reasons and not told):
        return []
    return [
        Statement(turn, place, text, answered=True, manner="answer", asked_in=asked.turn_id, question=asked.question)
    ]


def _from_sentence(
    turn: Turn, text: str, asked: _Asked, assistant: str | None, place: int, number: int
) -> list[Statement | Forgetting]:
    if number == 0 and (answered := _answered(turn, text, asked, place)) is not None:
        return answered
    if is_instruction(text):
        return [Statement(turn, place, text, manner="instruction")]
    if turn.source != "chat":
        return [Statement(turn, place, mended(text))] if text[-1] != "?" and len(text.split()) > 2 else []
    judged = relevance_of(text, after_question=asked.of_user, replying=asked.anything)
    if "task" in judged.reasons or "question" in judged.reasons:
        pieces = told_beside(text)
        return [one for piece in pieces for one in _clauses(turn, piece, asked, assistant, place)]
    if judged.worth_keeping and "bare_answer" in judged.reasons and asked.question is not None:
        return _quoted(turn, without_asides(text, assistant), asked, judged.reasons, place)
    return _clauses(turn, text, asked, assistant, place) if judged.worth_keeping else []


def _clauses(turn: Turn, text: str, asked: _Asked, assistant: str | None, place: int) -> list[Statement | Forgetting]:
    clean = mended(without_asides(text, assistant))
    bodies = [whole(without_asides(clause, assistant)) for clause in clauses_of(whole(clean))]
    bodies = [body for body in bodies if len(body.split()) > 1 and not is_chitchat(body)]
    if len(bodies) > 1:
        bodies = [body for body in bodies if _stands(body, asked)] or bodies[:1]
    return [Statement(turn, place, body) for body in bodies]


def statements_of(turns: Sequence[AdmittedTurn], questions: Mapping[str, Question]) -> list[Statement | Forgetting]:
    """All that is worth keeping of some turns, in the order in which it was said.

    A question that the assistant asks, in this turn or in the one before it in the conversation, is answered by
    the user's next words; `questions` are those that earlier batches left, by conversation. Skipped turns and text in
    another language give nothing.
    """
    found: list[Statement | Forgetting] = []
    asked = {conversation: _asked_in(one.turn_id, one.text) for conversation, one in questions.items()}
    for admitted in turns:
        turn = admitted.turn
        assistant = next((m.name for m in turn.messages if m.role == "assistant" and m.name), None)
        mine: list[Statement | Forgetting] = []
        for message in turn.messages:
            if message.role == "assistant":
                asked[turn.conversation_id] = _asked_in(turn.turn_id, message.content)
            if message.role != "user":
                continue
            before = asked.pop(turn.conversation_id, _Asked())
            if before.turn_id == turn.turn_id:
                before.turn_id = None
            if admitted.admission.action is AdmissionAction.SKIP or not is_english(prose_of(message.content)):
                continue
            mine += _statements_of(turn, message.content, before, assistant, len(mine))
        found += mine[:MAX_SENTENCES]
    return found
