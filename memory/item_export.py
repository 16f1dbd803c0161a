"""Items of the store as lines of an export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from pydantic import TypeAdapter

from policies.items import check_depth
from schema import Subject
from schema.item import Item
from stores.open import Stores

_ITEM: Final = TypeAdapter(Item)
_SUBJECT: Final = TypeAdapter(Subject)
_FIELDS: Final = TypeAdapter(dict[str, Any])


def item_lines(subject: Subject, stores: Stores, now: datetime) -> Iterator[dict[str, Any]]:
    """Yield each item of a subject as `item_of` reads it: its vectors are made anew where it is searched."""
    for stored in stores.catalog.items.under(subject, (), now):
        yield {"item": {**subject.model_dump(), **_ITEM.dump_python(stored.item, mode="json")}}


def item_of(line: Mapping[str, Any]) -> tuple[Subject, Item]:
    """Return whose item a line of an export has, and the item.

    Raises:
        pydantic.ValidationError: a field is not what it should be.
        ValueError: it is no such line.
    """
    fields = _FIELDS.validate_python(line["item"])
    subject = _SUBJECT.validate_python(
        {name: fields.pop(name) for name in ("tenant_id", "subject_id") if name in fields}
    )
    item = _ITEM.validate_python(fields)
    check_depth(item.value)
    if not item.namespace or any("." in label or not label for label in item.namespace):
        raise ValueError("namespace: it has at least one label, none of them empty or with a period")
    return subject, item
