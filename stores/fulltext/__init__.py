"""Find memories by their words: BM25 over summaries, by subject, the same whatever the index is."""

from stores.fulltext.search import FullText, Words
from stores.fulltext.terms import terms_of

__all__ = ["FullText", "Words", "terms_of"]
