"""A damaged catalog is an outage: it buries no turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from schema.errors import CatalogOutage, exit_code_of
from stores.catalog import Catalog
from stores.catalog.engine import create_catalog_engine
from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.turns import a_turn, subject

pytest_generate_tests = on_every_store_at_length


@pytest.mark.parametrize("damage", [b"no database at all, by no means" * 200, b"SQLite format 3\x00" + b"\xff" * 9000])
def test_a_damaged_file_is_an_outage_that_a_person_must_end(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "catalog.sqlite3"
    file.write_bytes(damage)
    engine = create_catalog_engine(f"sqlite:///{file}")
    with pytest.raises(CatalogOutage, match="damaged") as raised, engine.connect() as connection:
        connection.execute(text("SELECT * FROM sqlite_master"))
    assert exit_code_of(raised.value) == 2
    engine.dispose()


def test_turns_wait_until_the_damaged_catalog_is_mended(alone: Worker, anna: str) -> None:
    settings = alone.context.settings
    file = settings.data_dir / "catalog.sqlite3"
    alone.context.catalog.close()
    for log in (file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        log.unlink(missing_ok=True)
    good = file.read_bytes()
    file.write_bytes(good[:100] + b"\xff" * (len(good) - 100))
    before = len(alone.dead_letters())
    broken = alone.with_parts(catalog=Catalog(create_catalog_engine(settings.effective_catalog_url)))
    broken.park(a_turn(anna, 0, "I live in Lisbon"))
    broken.work(subject(anna))
    assert len(alone.dead_letters()) == before
    assert alone.context.mailbox.parked(subject(anna)).keys() == {f"{anna}-0"}
    broken.context.catalog.close()


@pytest.mark.parametrize(
    ("harm", "remedy"),
    [
        ("ALTER TABLE memories RENAME COLUMN document TO lost", "ALTER TABLE memories RENAME COLUMN lost TO document"),
        ("ALTER TABLE ledger RENAME TO lost", "ALTER TABLE lost RENAME TO ledger"),
    ],
)
def test_turns_wait_while_the_tables_are_not_as_they_were_made(
    worker: Worker, anna: str, harm: str, remedy: str
) -> None:
    url = worker.context.settings.effective_catalog_url
    worker.hear(anna, "I live in Lisbon.")
    before = len(worker.dead_letters())
    engine = create_catalog_engine(url)
    with engine.begin() as connection:
        connection.execute(text(harm))
    try:
        harmed = worker.with_parts(catalog=Catalog(create_catalog_engine(url)))
        harmed.park(a_turn(anna, 1, "I moved to Oslo."))
        harmed.work(subject(anna))
        harmed.context.catalog.close()
    finally:
        with engine.begin() as connection:
            connection.execute(text(remedy))
        engine.dispose()
    assert len(worker.dead_letters()) == before
    worker.wait_over(subject(anna))
    mended = worker.with_parts(catalog=Catalog(create_catalog_engine(url)))
    mended.work(subject(anna))
    assert mended.outcomes(subject(anna)).keys() == {f"{anna}-0", f"{anna}-1"}
    mended.context.catalog.close()


@pytest.mark.parametrize("when", ["0001-01-01T00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_moment_that_some_zones_cannot_tell_is_no_dead_letter(worker: Worker, anna: str, when: str) -> None:
    worker.hear(anna, "I live in Lisbon.", occurred_at=when)
    assert list(worker.outcomes(subject(anna)).values()) == ["kept"]


@pytest.mark.parametrize("said", ["Forget that --- please", "Forget --- please.", "forget that … please"])
def test_a_wish_with_nothing_but_signs_in_it_is_no_dead_letter(worker: Worker, anna: str, said: str) -> None:
    worker.hear(anna, "I live in Lisbon.", said)
    assert worker.outcomes(subject(anna)).get(f"{anna}-1") in ("forgotten", "hidden", "skipped")
