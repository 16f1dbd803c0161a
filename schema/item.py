"""Items of the store: JSON that an application keeps about a subject, under names of its own."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from schema.base import etag_of
from schema.turn import Moment, Subject

Minutes = Annotated[float, Field(gt=0, le=60 * 24 * 36_500, allow_inf_nan=False)]
"""For how long something lives: a hundred years at most."""
Namespace = tuple[str, ...]
"""Labels from the widest to the narrowest: not empty, and without a period."""


@dataclass(frozen=True)
class Item:
    """A value kept under a key of a namespace. `ttl_minutes` is for how long after it was last written or read."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: Moment
    updated_at: Moment
    ttl_minutes: Minutes | None = None
    texts: tuple[str, ...] = ()
    """The texts by which it is found where its meaning is asked for; nothing where it is not."""

    @property
    def etag(self) -> str:
        """Return a name of what it says: another one as soon as it says something else."""
        return etag_of(written(self.value))


@dataclass(frozen=True)
class Put:
    """A value to keep under a key from now on; without a `value`, the key is deleted.

    With `if_match` only while what is there has one of these ETags, or any where they are `ANY_ETAG`; with `if_absent`
    only while nothing is there.
    """

    namespace: Namespace
    key: str
    value: dict[str, Any] | None
    ttl_minutes: float | None = None
    texts: tuple[str, ...] = ()
    if_match: frozenset[str] | None = None
    if_absent: bool = False

    @property
    def is_conditional(self) -> bool:
        return self.if_match is not None or self.if_absent


@dataclass(frozen=True)
class NamespaceMatch:
    """Condition on the begin or the end of a namespace; the label `*` is any one label."""

    match_type: Literal["prefix", "suffix"]
    path: Namespace


def written(value: dict[str, Any] | None) -> str:
    """Return a value as the JSON that it is kept as."""
    return json.dumps(value, separators=(",", ":"))


def item_id(subject: Subject, namespace: Namespace, key: str) -> uuid.UUID:
    """Return the id of what a subject has under a key of a namespace, there or not.

    Source: the key of "S3 Vectors plan", `_compose_point_uuid`; written as JSON, so that no two names run together.
    """
    named = [subject.tenant_id, subject.subject_id, list(namespace), key]
    return uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(named))
