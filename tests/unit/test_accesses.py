"""Accesses are hints: one that cannot be written costs nobody an answer, and is not lost without a word."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy.exc import ProgrammingError
from structlog.testing import capture_logs

from schema.errors import CatalogOutage
from stores.accesses import Accesses
from stores.catalog import Catalog
from tests.turns import WHEN, subject


def catalog_that_fails(error: Exception) -> Catalog:
    def count(_accesses: Iterable[Any], _uses: Iterable[Any]) -> None:
        raise error

    return cast(Catalog, SimpleNamespace(uses=SimpleNamespace(count=count)))


@pytest.mark.parametrize(
    "error",
    [
        CatalogOutage("locked"),
        ProgrammingError("UPDATE", None, Exception("permission denied for table accesses")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_accesses_that_the_catalog_does_not_take_are_told_in_the_log_and_nowhere_else(error: Exception) -> None:
    accesses = Accesses(catalog_that_fails(error))
    accesses.note(subject("anna"), [uuid.uuid4()], WHEN)
    with capture_logs() as lines:
        accesses.close()
    assert [(line["event"], line["error"]) for line in lines] == [("accesses_not_counted", type(error).__name__)]
