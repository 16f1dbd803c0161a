"""Prototypes of attributes in one embedder's vectors: do two statements speak of the same attribute?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Final
from uuid import UUID

import numpy as np

from memory.spending import spending
from policies.dedup import Neighbour
from policies.language.attributes import ATTRIBUTES, Prototypes, attribute_shares
from stores.embedding.base import Embedder
from stores.index.base import Vector

_SINGLE: Final = np.array([attribute.single for attribute in ATTRIBUTES.values()], dtype=np.float64)
_lock = Lock()
_prototypes: dict[str, Prototypes] = {}


def prototypes_of(embedder: Embedder) -> Prototypes:
    """Return the prototypes in this embedder's vectors; a process embeds them once. Safe for many threads.

    Raises:
        EmbedderUnavailable: try again later.
    """
    with _lock:
        if embedder.name not in _prototypes:
            with spending("start"):
                _prototypes[embedder.name] = Prototypes(embedder.embed(Prototypes.texts()))
        return _prototypes[embedder.name]


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
