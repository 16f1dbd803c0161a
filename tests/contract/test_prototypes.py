"""The vectors of the examples of attributes that come with the package, so that a process need not make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import memory.attributes
from memory.attributes import prototypes_of
from policies.language.attributes import Prototypes
from schema import Thresholds
from stores.embedding.base import Embedder, Vectors
from stores.embedding.minilm import MiniLM
from stores.embedding.multilingual import MultilingualE5
from tests.contract.embedders import minilm

EVERY = 12
"""Every so manyth example is embedded: all of them take seconds, and what changes an embedder changes most vectors."""
NEAR = 0.999
"""The least cosine of what comes with the package and what is made here: processors round integers differently."""


class Counted:
    """MiniLM under a name, and how many texts it was given."""

    dimensions = 384
    thresholds: Thresholds | None = None

    def __init__(self, name: str) -> None:
        self.name, self.texts = name, 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return np.tile(minilm().embed(texts[:1]), (len(texts), 1))


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.attributes, "_prototypes", {})


@pytest.mark.parametrize("opened", [minilm, MultilingualE5], ids=["minilm", "multilingual"])
def test_the_prototypes_that_come_with_the_package_are_those_that_the_embedder_makes(
    opened: Callable[[], Embedder],
) -> None:
    embedder = opened()
    shipped = memory.attributes.shipped_prototypes(embedder.name)
    assert shipped is not None, "python -m benchmarks.embed_prototypes"
    texts = Prototypes.texts()
    assert shipped.vectors.shape == (len(texts), embedder.dimensions)
    cosines = (shipped.vectors[::EVERY] * embedder.embed(texts[::EVERY])).sum(axis=1)
    assert cosines.min() > NEAR, "python -m benchmarks.embed_prototypes"


def test_a_process_embeds_no_prototypes_that_come_with_the_package() -> None:
    built_in = Counted(MiniLM().name)
    assert len(prototypes_of(built_in).vectors) == len(Prototypes.texts())
    assert built_in.texts == 0


def test_another_embedder_embeds_the_prototypes_once() -> None:
    own = Counted("own")
    assert prototypes_of(own) is prototypes_of(own)
    assert own.texts == len(Prototypes.texts())


def test_prototypes_of_other_examples_than_there_are_now_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (*Prototypes.texts()[:-1], "They play the hurdy-gurdy.")
    monkeypatch.setattr(Prototypes, "texts", lambda: texts)
    built_in = Counted(MiniLM().name)
    prototypes_of(built_in)
    assert built_in.texts == len(texts)
