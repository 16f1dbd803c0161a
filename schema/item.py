"""Items of the store: JSON that an application keeps about a subject, under names of its own."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from schema.turn import Subject

Namespace = tuple[str, ...]
"""Labels from the widest to the narrowest: not empty, and without a period."""


@dataclass(frozen=True)
class Item:
    """A value kept under a key of a namespace. `ttl_minutes` is for how long after it was last written or read."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    ttl_minutes: float | None = None
    texts: tuple[str, ...] = ()
    """The texts by which it is found where its meaning is asked for; nothing where it is not."""


@dataclass(frozen=True)
class Put:
    """A value to keep under a key from now on; without a `value`, the key is deleted."""

    namespace: Namespace
    key: str
    value: dict[str, Any] | None
    ttl_minutes: float | None = None
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class NamespaceMatch:
    """Condition on the begin or the end of a namespace; the label `*` is any one label."""

    match_type: Literal["prefix", "suffix"]
    path: Namespace


def item_id(subject: Subject, namespace: Namespace, key: str) -> uuid.UUID:
    """Return the id of what a subject has under a key of a namespace, there or not.

    Source: the key of "S3 Vectors plan", `_compose_point_uuid`; written as JSON, so that no two names run together.
    """
    named = [subject.tenant_id, subject.subject_id, list(namespace), key]
    return uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(named))
