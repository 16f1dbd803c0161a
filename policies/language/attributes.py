"""Attributes of a person: those of `attributes.toml`, and which one a sentence speaks of."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
_SHARPNESS: Final = 12.0
"""How much a little more of cosine counts."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A row of the table.

    `single` says that there is one value at a time, of each person or (`per` "thing") of each thing named, `fixed` that
    it can be corrected and does not change. `called` are
    other names of the attribute, `examples` everyday wordings of a fact that has it, `value` the type of its values.
    """

    name: str
    value: str
    single: bool
    per: str
    fixed: bool
    called: tuple[str, ...]
    examples: tuple[str, ...]


def _load() -> dict[str, Attribute]:
    table = tomllib.loads(files(__package__).joinpath("attributes.toml").read_text(encoding="utf-8"))
    return {
        name: Attribute(
            name=name,
            value=row["value"],
            single=row["single"],
            per=row["per"],
            fixed=row.get("fixed", False),
            called=tuple(called.replace("_", " ") for called in row["called"].split()),
            examples=tuple(row["examples"]),
        )
        for name, row in table.items()
    }


ATTRIBUTES: Final[Mapping[str, Attribute]] = _load()


@dataclass(frozen=True)
class Prototypes:
    """The examples of all attributes as vectors of one embedder: `vectors` is (n, d), in the order of `texts`."""

    vectors: Vector

    @classmethod
    def texts(cls) -> tuple[str, ...]:
        """Return the examples in the order in which their vectors are wanted."""
        return tuple(example for attribute in ATTRIBUTES.values() for example in attribute.examples)


def attribute_shares(vector: Vector, prototypes: Prototypes) -> dict[str, float]:
    """Return how likely a sentence with this vector speaks of each attribute; all together are 1."""
    closeness = _closeness(prototypes, vector)
    shares = np.exp(_SHARPNESS * (closeness - closeness.max()))
    return dict(zip(ATTRIBUTES, (shares / shares.sum()).tolist(), strict=True))


def _closeness(prototypes: Prototypes, vector: Vector) -> NDArray[np.float64]:
    """Return how near a sentence is to each attribute's examples: the nearest, and a little of the next."""
    cosines = np.sort((prototypes.vectors @ vector).reshape(len(ATTRIBUTES), -1), axis=1).astype(np.float64)
    nearest: NDArray[np.float64] = cosines[:, -1] + 0.5 * cosines[:, -2]
    return nearest


def is_fixed(attribute: str | None) -> bool:
    """Return whether an attribute does not change: where somebody grew up."""
    row = ATTRIBUTES.get(attribute or "")
    return row is not None and row.fixed


def has_one_value(attribute: str | None) -> bool:
    """Return whether somebody has one value of an attribute at a time. One that is not in the table is taken
    to be so."""
    if attribute is None:
        return False
    row = ATTRIBUTES.get(attribute)
    return row.single if row else True
