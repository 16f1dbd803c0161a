"""Finding memories by their words: BM25 over summaries, by subject, the same whatever the index is."""

from memory.lexicon.lexicon import Lexicon, Words
from memory.lexicon.terms import terms_of

__all__ = ["Lexicon", "Words", "terms_of"]
