"""The parser's encoder as one function: the same vectors as by the model's own layers, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import spacy

from memory.parser.encoder import fuse
from memory.parser.english import MODEL

_TEXTS = (
    "I live in Ghent and work at Initech.",
    "",
    "ok",
    " \n\t ",
    "Zażółć gęślą jaźń, 10,000 €! 🙂🙂 我住在上海",
    "My sister's wedding is on 3 October, so we're flying to Lisbon with the kids and my in-laws. " * 20,
)


@pytest.fixture(scope="module")
def nlp() -> Any:
    return spacy.load(MODEL)


def encoder_of(nlp: Any, component: str) -> Any:
    model = nlp.get_pipe(component).model
    return model if component == "tok2vec" else model.get_ref("tok2vec").layers[0]


@pytest.mark.parametrize("component", ["tok2vec", "ner"])
def test_one_function_gives_the_vectors_of_all_layers_bit_by_bit(nlp: Any, component: str) -> None:
    encoder = encoder_of(nlp, component)
    docs = [nlp.make_doc(text) for text in _TEXTS]
    batches = [docs, docs[1:2], *([doc] for doc in docs), docs[::-1]]
    by_layers = [encoder.predict(batch) for batch in batches]
    layers = encoder._func
    fuse(encoder)
    assert encoder._func is not layers, "the model has other layers than the function knows"
    for batch, expected in zip(batches, by_layers, strict=True):
        found = encoder.predict(batch)
        assert [vectors.shape for vectors in found] == [vectors.shape for vectors in expected]
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_a_model_of_other_layers_stays_as_it_is(nlp: Any) -> None:
    tagger = nlp.get_pipe("tagger").model
    before = tagger._func
    fuse(tagger)
    assert tagger._func is before
