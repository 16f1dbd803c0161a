"""Who only asks makes nothing: where there is no catalog, a command names the folder that it looked into."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import all_commands
from tests.e2e.command import Home

_BEGIN_SOMETHING = {
    *("run", "worker", "beat", "serve", "ingest", "say", "migrate", "import", "restore-backup"),
    *("documents put", "examples load", "keys create", "members set", "webhooks add"),
    *("subject block", "subject unblock", "subject consent", "subject timezone"),
}
_ASK_NO_CATALOG = {
    *("settings", "page-link", "staff-link", "dead-letters list", "dead-letters show"),
    *("dead-letters replay", "dead-letters drop"),
}
_GIVEN = {
    "job": "forget",
    "letter": "3f2a9c1e",
    "memory": "0ffde783",
    "review": "0ffde783",
    "ids": "0ffde783",
    "what": "given",
    "zone": "Europe/Berlin",
    "why": "a case",
}
_BESIDE = {
    "edit": ["--summary", "Lives in Porto."],
    "forget": ["--yes"],
    "forget-user": ["--yes"],
    "holds set": ["0ffde783", "--by", "lee"],
    "holds lift": ["0ffde783", "--by", "lee"],
    "members remove": ["--by", "lee"],
    "reviews approve": ["--by", "lee"],
    "reviews reject": ["--by", "lee"],
}
_BY_ITSELF = {"status", "doctor"}


def leaves(command: Any, *path: str) -> Iterator[tuple[str, list[str]]]:
    """Every command with the least that it must be given."""
    for name, found in getattr(command, "commands", {}).items():
        yield from leaves(found, *path, name)
    if not hasattr(command, "commands"):
        needed = [parameter for parameter in command.params if parameter.required]
        arguments = [
            word
            for parameter in needed
            for word in ([parameter.opts[0]] if parameter.param_type_name == "option" else [])
            + [_GIVEN.get(parameter.name, "ada")]
        ]
        yield " ".join(path), arguments


COMMANDS = dict(leaves(all_commands()))
READERS = sorted(COMMANDS.keys() - _BEGIN_SOMETHING - _ASK_NO_CATALOG - _BY_ITSELF)


@pytest.fixture
def nobody(tmp_path: Path) -> Home:
    return Home.at(tmp_path)


def test_every_command_is_either_a_reader_or_named_here() -> None:
    assert _BEGIN_SOMETHING | _ASK_NO_CATALOG | _BY_ITSELF | _BESIDE.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("command", READERS)
def test_a_command_that_begins_nothing_names_the_folder_without_a_catalog_and_makes_none(
    nobody: Home, command: str
) -> None:
    given = [*command.split(), *COMMANDS[command], *_BESIDE.get(command, ())]
    said = nobody.say(*given, AFTERTURN_EXAMPLES="shots")
    assert said.returncode == 2, said.stdout
    assert f"there is no catalog in {nobody.data}" in said.stderr
    assert not nobody.data.exists()


def test_a_catalog_file_without_tables_is_no_catalog(nobody: Home) -> None:
    nobody.data.mkdir()
    (nobody.data / "catalog.sqlite3").touch()
    said = nobody.say("memories", "ada")
    assert (said.returncode, f"there is no catalog in {nobody.data}" in said.stderr) == (2, True)
    assert (nobody.data / "catalog.sqlite3").stat().st_size == 0, "a restore finds nothing there"


def test_the_status_of_a_folder_without_a_catalog_names_it_and_makes_nothing(nobody: Home) -> None:
    said = nobody.say("status")
    assert f"there is no catalog in {nobody.data}" in said.stdout
    assert not list(nobody.folder.rglob("*.sqlite3"))


def test_the_doctor_of_a_fleet_at_work_names_the_folder_without_a_catalog_and_makes_none(nobody: Home) -> None:
    told = json.loads(nobody.say("doctor", "--json").stdout)
    [catalog] = [one for one in told["findings"] if one["part"] == "catalog"]
    assert (catalog["mark"], f"there is no catalog in {nobody.data}" in catalog["mend"]) == ("failed", True)
    assert not list(nobody.folder.rglob("*.sqlite3"))


def test_the_doctor_before_a_first_start_makes_what_the_start_would(nobody: Home) -> None:
    nobody.say("doctor", "--before-start")
    assert (nobody.data / "catalog.sqlite3").exists()
