"""What an erasure by command says where its proof is not whole."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from interfaces.local.broker import embedded_broker
from schema.settings import Settings
from stores.catalog import Changes, open_catalog
from tests.contract.catalogs import a_memory
from tests.e2e.command import Home


def test_an_erasure_says_that_it_is_not_shown_to_be_gone_from_a_file_of_the_broker(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    open_catalog(Settings(data_dir=home.data)).close()
    with embedded_broker(home.environment()["AFTERTURN_BROKER_URL"], tmp_path / "broker"):
        kept = tmp_path / "broker" / "appendonlydir"
        aside = kept.rename(kept.with_name("aside"))
        kept.touch()
        said = home.say("forget-user", "vera", "--yes")
        assert (said.returncode, "nothing is left" in said.stdout, "something is left" in said.stdout) == (
            1,
            False,
            False,
        )
        assert "not shown to be gone from the broker's append-only file" in said.stdout
        assert "could not rewrite" in said.stderr
        kept.unlink()
        aside.rename(kept)
        assert "nothing is left" in home.say("forget-user", "vera", "--yes").stdout


@pytest.mark.parametrize(("part", "named"), [((), "of vera"), (("--turn", "t-1"), "of turn t-1 of vera")])
def test_of_somebody_of_whom_nothing_was_known_an_erasure_says_so_and_no_table(
    tmp_path: Path, part: tuple[str, ...], named: str
) -> None:
    home = Home.at(tmp_path)
    open_catalog(Settings(data_dir=home.data)).close()
    with embedded_broker(home.environment()["AFTERTURN_BROKER_URL"], tmp_path / "broker"):
        said = home.say("forget-user", "vera", *part, "--yes")
    [line] = said.stdout.splitlines()
    assert (said.returncode, f"nothing was known {named}" in line, "nothing is left" in line) == (0, True, True)
    assert "refused when they arrive" in said.stderr


def test_who_forgets_one_memory_is_told_where_its_turn_stays_and_until_when(
    tmp_path: Path,
) -> None:
    home = Home.at(tmp_path)
    memory = a_memory()
    with closing(open_catalog(Settings(data_dir=home.data))) as catalog:
        catalog.commit(Changes(subject=memory.subject, at=memory.created_at, created=(memory,)))
    with embedded_broker(home.environment()["AFTERTURN_BROKER_URL"], tmp_path / "broker"):
        said = home.say("forget", str(memory.id), "--yes")
    assert said.returncode == 0, said.stderr
    assert str(memory.id) in said.stdout
    assert "append-only file" in said.stderr
    assert "BGREWRITEAOF" in said.stderr
