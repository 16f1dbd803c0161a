"""An embedded catalog with its tables, copied: to run every migration for each test would take as long as the tests."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate


def put_catalog(folder: Path) -> Path:
    """Put an empty catalog of the newest revision into a folder that has none, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "catalog.sqlite3"
    with file.open("xb") as new:
        new.write(_empty_catalog())
    return file


@cache
def _empty_catalog() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "catalog.sqlite3"
        engine = create_catalog_engine(f"sqlite:///{file}")
        migrate(engine)
        # The last connection that closes writes the log through to the file.
        engine.dispose()
        return file.read_bytes()
