"""How an order to the assistant or its memory is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from policies.language.annotation import Note
from policies.language.clauses import Mood, governor, main_clauses
from policies.language.fidelity import is_faithful
from policies.language.narration import Narrator, narrated, retold
from policies.language.parse import Parsed
from policies.language.people import introduced_in
from policies.language.tellable import may_be_told
from worker.extract.forgetting import Forgetting
from worker.extract.statement import Statement
from worker.extract.utterances import Utterance

_LASTING: Final = ("from now on", "going forward", "in the future", "in future")
_ASSISTANTS: Final = {"your": "its", "yours": "its", "yourself": "itself"}
_OPENS_ORDER: Final = frozenset({"do", "don't", "never", "please"})
_RECALLS: Final = frozenset({"remember", "forget"})
_POLITE: Final = frozenset({"please", "pls", "and", ",", "just"})


def reminder(parsed: Parsed, notes: Sequence[Note], name: str) -> str | None:
    """Return what the user is to be reminded of: "Maya wants to be reminded to pay the rent"."""
    rest = retold(parsed, Narrator(name, named=True), notes)
    first = parsed.tokens[0].lower if parsed.tokens else ""
    if first in ("to", "about", "of", "that"):
        rest = rest.split(" ", 1)[-1]
    opens_with_name = bool(parsed.tokens) and parsed.tokens[0].tag.startswith("NNP")
    if not opens_with_name:
        rest = rest[:1].lower() + rest[1:]
    is_sentence = any(clause.owns_subject and clause.finite is not None for clause in main_clauses(parsed))
    if first == "that" or (is_sentence and first not in ("to", "about", "of")):
        joint = "that"
    else:
        joint = "to" if first == "to" or (parsed.tokens and parsed.tokens[0].tag.startswith("VB")) else "of"
    return _finished(f"{name} wants to be reminded {joint} {rest}")


def instruction(parsed: Parsed, notes: Sequence[Note], name: str) -> str | None:
    """Return how the user wants the assistant to behave: "Maya wants the assistant to answer in French"; what they say
    that they like is told so: "Maya prefers short answers"."""
    called = called_in(parsed)
    if called:
        return f"{name} wants to be called {called}."
    opens_with_order = bool(parsed.tokens) and parsed.tokens[0].lower in _OPENS_ORDER
    if may_be_told(parsed) and not opens_with_order:
        narration = narrated(parsed, Narrator(name), notes)
        utterance = parsed.text_of(range(len(parsed.tokens)))
        given = (name, *(note.text for note in notes))
        return _finished(narration) if narration and is_faithful(narration, utterance, given) else None
    reworded = Parsed(tuple(replace(t, text=_ASSISTANTS.get(t.lower, t.text)) for t in parsed.tokens), parsed.names)
    rest = retold(reworded, Narrator(name, named=True), notes).rstrip(".! ")
    words = rest.split()
    while words and words[0].lower().strip(",") in _POLITE:
        words.pop(0)
    while words and words[-1].lower().strip(",") in _POLITE:
        words.pop()
    rest = " ".join(words).rstrip(",")
    for lasting in _LASTING:
        if rest.lower().startswith(lasting):
            rest = f"{rest[len(lasting) :].strip(' ,')} {lasting}"
    lower = rest.lower()
    for no in ("don't ", "do not "):
        if lower.startswith(no):
            return _finished(f"{name} wants the assistant not to {rest[len(no) :]}")
    return _finished(f"{name} wants the assistant to {rest[:1].lower() + rest[1:]}")


def called_in(parsed: Parsed) -> str | None:
    """Return the name in "call me Max"."""
    tokens = parsed.tokens
    for index in range(len(tokens) - 2):
        if tokens[index].lower == "call" and tokens[index + 1].lower == "me" and tokens[index + 2].text[:1].isupper():
            return tokens[index + 2].text
    return None


def name_told(item: Statement | Forgetting) -> str | None:
    """Return what the user says that they are called."""
    if not isinstance(item, Statement):
        return None
    if item.manner == "called":
        return item.words
    for utterance in item.utterances:
        if utterance.parsed is None or utterance.of_others:
            continue
        if item.manner == "instruction" and (called := called_in(utterance.parsed)):
            return called
        if name := introduced_in(utterance.part):
            return name
    return None


def _finished(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text[-1:] in ".!?" else f"{text}."


def is_done_to_speaker(utterance: Utterance) -> bool:
    """Return whether what is to be remembered is done to the speaker, so that the assistant is to remember doing it:
    "remember to be short with me"."""
    parsed = utterance.parsed
    if parsed is None:
        return False
    verbs = (governor(parsed, index) for index, token in enumerate(parsed.tokens) if token.lower == "me")
    return any(verb is not None and parsed.tokens[parsed.tokens[verb].head].lower in _RECALLS for verb in verbs)


def is_imperative(utterance: Utterance) -> bool:
    """Return whether an utterance is one order: "Answer in short sentences"."""
    tops = main_clauses(utterance.parsed) if utterance.parsed is not None else []
    return len(tops) == 1 and tops[0].mood is Mood.ORDER
