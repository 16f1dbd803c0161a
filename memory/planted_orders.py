"""Which texts of a batch are likely planted orders: their words tell of most, and the embedder is asked of the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from policies.language.heads import EMBEDDER
from policies.language.languages import ENGLISH, language_of
from policies.language.sentences import split_sentences
from policies.privacy import planted
from stores.embedding.base import Embedder

REASON: Final = "planted_instruction"


def likely_planted(texts: Iterable[str], embedder: Embedder) -> frozenset[str]:
    """Return those of the texts that the head finds planted.

    Only the embedder that the head has learned from is asked, and in the language that it reads: it runs in this
    process, and what a text has of secrets goes nowhere. With another one, or in another language, words and concepts
    alone decide.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    different = dict.fromkeys(texts)
    if embedder.name != EMBEDDER:
        return frozenset(filter(planted.is_likely, different))
    english = [text for text in different if language_of(text) == ENGLISH]
    unsure = list(filter(planted.may_be, english))
    vectors = embedder.embed([planted.as_read(text) for text in unsure]) if unsure else ()
    by_vectors = (text for text, vector in zip(unsure, vectors, strict=True) if planted.is_likely(text, vector))
    return frozenset([*by_vectors, *filter(planted.is_likely, different.keys() - set(english))])


def is_likely_planted_statement(text: str, embedder: Embedder) -> bool:
    """Return whether the head finds a statement planted, or a sentence of it, whatever stands around that.

    What it tells of the user is read as they would have said it, for of that the head has learned.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    said = planted.as_said(text)
    return bool(likely_planted([said, *(sentence.text for sentence in split_sentences(said))], embedder))
