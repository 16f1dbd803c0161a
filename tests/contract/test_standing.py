"""What stands in every context block, on every database."""

from __future__ import annotations

from typing import Any

from schema import MemoryType, Status
from stores.catalog import Catalog, Changes
from tests.contract.catalogs import ANNA, BERT, NOW, a_memory


def test_what_stands_is_pinned_asked_for_or_more_important_than_any_kind(catalog: Catalog) -> None:
    fields: dict[str, dict[str, Any]] = {
        "plain": {"importance": 0.9},
        "important": {"importance": 0.95},
        "explicit": {"explicit": True, "importance": 0.9},
        "pinned": {"pinned": True},
        "archived": {"pinned": True, "status": Status.ARCHIVED},
        "episodic": {"pinned": True, "type": MemoryType.EPISODIC},
    }
    known = {name: a_memory(name).model_copy(update=given) for name, given in fields.items()}
    catalog.commit(Changes(subject=ANNA, at=NOW, created=tuple(known.values())))
    standing = catalog.pages.standing(ANNA, (MemoryType.SEMANTIC, MemoryType.PROCEDURAL), limit=10)
    assert [memory.id for memory in standing] == [known[name].id for name in ("pinned", "important", "explicit")]
    assert catalog.pages.standing(ANNA, (MemoryType.SEMANTIC,), limit=1, offset=2) == standing[2:]
    assert catalog.pages.standing(BERT, (MemoryType.SEMANTIC,), limit=10) == []
