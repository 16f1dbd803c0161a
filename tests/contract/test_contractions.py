"""What only older versions need goes from the tables once none of them runs, and they cannot start any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine, make_url, text

import stores.catalog.contractions as contractions
from interfaces.contracting import contract
from schema.errors import CatalogUnavailable, ContractionRefused
from schema.health import HealthStatus
from schema.settings import Settings
from stores.catalog.contractions import Unused, left_over, require_not_contracted
from stores.catalog.head import HEAD
from stores.catalog.health import check_catalog
from stores.postgres import create_postgres_engine
from tests.contract.catalogs import NOW

MADE_UP = Unused("feedback", "made_up", HEAD)
WHOLE = Unused("made_up", None, HEAD)


@pytest.fixture
def expanded(engine: Engine) -> Iterator[Sequence[Unused]]:
    """A column and a table that are made up: versions before this one needed them."""
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE feedback ADD COLUMN made_up VARCHAR(9)"))
        connection.execute(text("CREATE TABLE made_up (id INTEGER)"))
    yield (MADE_UP, WHOLE)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS made_up"))
        if left_over(engine, [MADE_UP]):
            connection.execute(text("ALTER TABLE feedback DROP COLUMN made_up"))


@pytest.fixture
def settings(broker_url: str, tmp_path: Path) -> Settings:
    return Settings(broker_url=broker_url, data_dir=tmp_path / "data")


def test_what_nobody_needs_goes_and_what_needs_it_cannot_start_any_more(
    engine: Engine, settings: Settings, expanded: Sequence[Unused], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert left_over(engine, expanded) == list(expanded)
    assert contract(settings, engine, NOW, expanded) == ["feedback.made_up", "made_up"]
    assert left_over(engine, expanded) == []
    assert contract(settings, engine, NOW, expanded) == []
    require_not_contracted(engine)
    monkeypatch.setattr(contractions, "HEAD", "0018")
    with pytest.raises(CatalogUnavailable, match=f"this one knows revision 0018.*{HEAD}; start a newer one"):
        require_not_contracted(engine)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("name", ["afterturn", pytest.param("afterturn/0018", marks=pytest.mark.long)])
def test_as_long_as_an_older_process_is_connected_nothing_goes_and_it_may_start_again(
    engine: Engine, settings: Settings, expanded: Sequence[Unused], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = make_url(engine.url.render_as_string(hide_password=False))
    older = create_postgres_engine(url, connections=1, name=name)
    with older.connect(), pytest.raises(ContractionRefused, match=rf"1 sessions of {name} from .*stop them"):
        contract(settings, engine, NOW, expanded)
    older.dispose()
    assert left_over(engine, expanded) == list(expanded)
    with monkeypatch.context() as before:
        before.setattr(contractions, "HEAD", "0018")
        require_not_contracted(engine)
    assert contract(settings, engine, NOW, expanded)


def test_doctor_says_what_may_go(engine: Engine, expanded: Sequence[Unused], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stores.catalog.health.left_over", lambda engine: left_over(engine, expanded))
    [told] = [check for check in check_catalog(engine, 1) if "feedback.made_up" in check.found]
    assert told.status is HealthStatus.WARNING
    assert "migrate --contract" in told.hint


def test_doctor_finds_nothing_to_mend_in_tables_of_a_newer_version_that_only_added(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an update that was taken back: the tables stay, and processes of the older version start."""
    for module in ("stores.catalog.contractions.HEAD", "stores.catalog.health.HEAD"):
        monkeypatch.setattr(module, "0018")
    checks = list(check_catalog(engine, 1))
    assert {check.status for check in checks} == {HealthStatus.OK}
    assert f"migration {HEAD}, of a newer version: this one knows 0018" in checks[-1].found


def test_doctor_says_that_newer_tables_are_without_what_this_version_needs(
    engine: Engine, settings: Settings, expanded: Sequence[Unused], monkeypatch: pytest.MonkeyPatch
) -> None:
    contract(settings, engine, NOW, expanded)
    for module in ("stores.catalog.contractions.HEAD", "stores.catalog.health.HEAD"):
        monkeypatch.setattr(module, "0018")
    told = list(check_catalog(engine, 1))[-1]
    assert told.status is HealthStatus.FAILED
    assert "start a newer one" in told.hint
