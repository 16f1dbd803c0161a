"""Prototypes of attributes in one embedder's vectors: do two statements speak of the same attribute?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Final
from uuid import UUID

import numpy as np

from memory.spending import spending
from policies.dedup import Neighbour
from policies.language.attributes import ATTRIBUTES, Prototypes, attribute_shares
from schema.packaged_arrays import packaged_arrays
from stores.embedding.base import Embedder
from stores.index.base import Vector

_SINGLE: Final = np.array([attribute.single for attribute in ATTRIBUTES.values()], dtype=np.float64)
_FILE: Final = "attribute_prototypes.npz"
"""The prototypes of the embedders that are built in, which take one second to embed and six: made anew by
`python -m benchmarks.embed_prototypes` when examples or such an embedder change."""
_lock = Lock()
_prototypes: dict[str, Prototypes] = {}


def prototypes_of(embedder: Embedder) -> Prototypes:
    """Return the prototypes in this embedder's vectors; a process embeds those that do not come with the package once.
    Safe for many threads.

    Raises:
        EmbedderUnavailable: try again later.
    """
    with _lock:
        if embedder.name not in _prototypes:
            _prototypes[embedder.name] = shipped_prototypes(embedder.name) or _embedded(embedder)
        return _prototypes[embedder.name]


def shipped_prototypes(embedder: str) -> Prototypes | None:
    """Return the prototypes of the embedder of this name that come with the package; None if none do."""
    entry = entry_of(embedder)
    saved = packaged_arrays("memory", _FILE)
    return Prototypes(saved[entry]) if entry in saved else None


def entry_of(embedder: str) -> str:
    """Return what the prototypes of an embedder are called in the file. It holds a digest of the examples, so that
    vectors of others than there are now are never taken for theirs."""
    return f"{embedder}@{hashlib.sha256(chr(0).join(Prototypes.texts()).encode()).hexdigest()[:16]}"


def _embedded(embedder: Embedder) -> Prototypes:
    with spending("start"):
        return Prototypes(embedder.embed(Prototypes.texts()))


def with_attributes(
    neighbours: Sequence[Neighbour], vector: Vector, vectors: Mapping[UUID, Vector], prototypes: Prototypes
) -> list[Neighbour]:
    """Return the neighbours of a statement with how likely each speaks of the same attribute as it.

    `vector` is the statement's, `vectors` are those of the neighbours that are known, by their ids.
    """
    mine = np.array(list(attribute_shares(vector, prototypes).values()))
    marked = []
    for neighbour in neighbours:
        neighbour_vector = vectors.get(neighbour.memory.id)
        if neighbour_vector is not None:
            both = mine * np.array(list(attribute_shares(neighbour_vector, prototypes).values()))
            marked.append(replace(neighbour, attribute=float(both.sum()), single=float(both @ _SINGLE)))
        else:
            marked.append(neighbour)
    return marked
