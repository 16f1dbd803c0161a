"""What people said lies in files that one account alone reaches, whatever the umask of who wrote them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from interfaces.cli.moving import export
from interfaces.local.data_folder import own_data_folder
from memory.context import open_memory
from recall import open_recall
from schema.settings import Settings
from stores.catalog import open_catalog_engine
from stores.private_files import tighten


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def settings(tmp_path: Path, broker_url: str) -> Settings:
    return Settings(data_dir=tmp_path / "var" / "data", broker_url=broker_url)


def test_a_data_folder_made_in_process_is_for_its_account_alone(settings: Settings) -> None:
    open_memory(settings).close()
    folder = settings.data_dir
    assert {path: _mode(path) for path in (folder, settings.index_dir)} == {folder: 0o700, settings.index_dir: 0o700}
    assert _mode(folder / "catalog.sqlite3") == 0o600


def test_a_wider_data_folder_is_tightened_when_it_is_opened(settings: Settings) -> None:
    open_memory(settings).close()
    for folder in (settings.data_dir, settings.index_dir):
        folder.chmod(0o755)
    open_recall(settings).close()
    assert [_mode(settings.data_dir), _mode(settings.index_dir)] == [0o700, 0o700]
    settings.data_dir.chmod(0o755)
    with own_data_folder(settings.data_dir) as folder:
        assert _mode(folder) == 0o700


def test_the_folder_of_a_catalog_elsewhere_stays_as_it_is_and_the_catalog_is_private(
    settings: Settings, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    elsewhere = settings.model_copy(update={"catalog_url": f"sqlite:///{shared / 'ours.sqlite3'}"})
    open_catalog_engine(elsewhere).dispose()
    assert (_mode(shared), _mode(shared / "ours.sqlite3")) == (0o755, 0o600)


def test_a_folder_that_many_accounts_write_to_is_left_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    tighten(tmp_path)
    assert _mode(tmp_path) == 0o1777


@pytest.mark.parametrize("is_there", [False, True])
def test_an_export_is_for_its_account_alone(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    monkeypatch.setenv("AFTERTURN_DATA_DIR", str(settings.data_dir))
    with closing(open_catalog_engine(settings).raw_connection()):
        pass
    file = tmp_path / "memories.jsonl"
    if is_there:
        file.write_text("from another day\n")
        assert _mode(file) == 0o644
    export(file)
    assert _mode(file) == 0o600
    assert file.read_text().startswith('{"afterturn')


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
