"""Which texts of a batch are likely planted orders: their words tell of most, and the embedder is asked of the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from policies.language.heads import EMBEDDER
from policies.language.languages import ENGLISH, language_of
from policies.language.orders import orders_of
from policies.language.sentences import split_sentences
from policies.privacy import planted
from stores.embedding.base import Embedder
from stores.embedding.reading import read_as

if TYPE_CHECKING:
    from stores.embedding.utterance_reader import UtteranceReader

_MAY_BE: Final = 0.02
"""How likely a text must be read to be planted for what the head finds to be so: of 2,754 turns of LoCoMo, where none
is, 19 of the 53 are left that it finds, of 153 texts that three authors planted 144 of 145."""
_MAY_BE_FOR_STYLE: Final = 0.5
"""The same of a text that says how to answer. Of 37 such of two authors, and 52 look-alikes of planted texts that are
heard so, the head finds one each, which are read at .09 and .06; of 1,093 planted texts thirteen are heard so, and all
are read at .53 or more."""
REASON: Final = "planted_instruction"


def likely_planted(texts: Iterable[str], embedder: Embedder, reader: UtteranceReader | None = None) -> frozenset[str]:
    """Return those of the texts that the head finds planted, and that do not read otherwise to a `reader`: talk of what
    somebody stands for has an order's words.

    Only the embedder that the head has learned from is asked, and in the language that it reads: it runs in this
    process, and what a text has of secrets goes nowhere. With another one, or in another language, words and concepts
    alone decide.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    different = dict.fromkeys(texts)
    english = [text for text in different if language_of(text) == ENGLISH]
    elsewhere = (text for text in different.keys() - set(english) if planted.is_likely(text, is_english=False))
    if embedder.name != EMBEDDER:
        return frozenset([*filter(planted.is_likely, english), *elsewhere])
    unsure = list(filter(planted.may_be, english))
    vectors = embedder.embed([planted.as_read(text) for text in unsure]) if unsure else ()
    by_vectors = [text for text, vector in zip(unsure, vectors, strict=True) if planted.is_likely(text, vector)]
    if reader is not None:
        readings = reader.read([read_as(planted.as_read(text)) for text in by_vectors])
        by_vectors = [
            text for text, reading in zip(by_vectors, readings, strict=True) if reading.planted >= _least(text)
        ]
    return frozenset([*by_vectors, *elsewhere])


def _least(text: str) -> float:
    """Return how likely a text must be read to be planted for it to be so."""
    says_how_to_answer = any(order.intent == "style" and not order.doubtful for order in orders_of(text))
    return _MAY_BE_FOR_STYLE if says_how_to_answer else _MAY_BE


def is_likely_planted_statement(text: str, embedder: Embedder, reader: UtteranceReader | None = None) -> bool:
    """Return whether the head finds a statement planted, or a sentence of it, whatever stands around that, and it does
    not read otherwise to a `reader`.

    What it tells of the user is read as they would have said it, for of that the head has learned.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    said = planted.as_said(text)
    return bool(likely_planted([said, *(sentence.text for sentence in split_sentences(said))], embedder, reader))
