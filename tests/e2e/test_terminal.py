"""What users wrote and what is secret, at the operator's terminal and on the disk."""

from __future__ import annotations

import json
import stat
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schema import Memory, Subject, Turn
from schema.settings import Settings, without_password
from stores.catalog import Changes, open_catalog
from tests.contract.catalogs import a_memory
from tests.e2e.command import Home
from tests.turns import a_turn

ACTING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202esdrawkcab\r\x08\x00"
MARKUP = "[/x]"


def known_of(home: Home, user: str, summary: str) -> Memory:
    """A memory of a user and the turn that it came from, written into the home's catalog."""
    memory = a_memory(subject=Subject(tenant_id="default", subject_id=user)).model_copy(update={"summary": summary})
    turn = Turn.model_validate(a_turn(user, 1, summary) | {"turn_id": memory.source_turn_ids[0]})
    with closing(open_catalog(Settings(data_dir=home.data))) as catalog:
        catalog.commit(Changes(subject=memory.subject, at=datetime.now(UTC), created=(memory,), sources=(turn,)))
    return memory


def acting_in(printed: str) -> set[str]:
    return set(printed) & (set(ACTING) - set("]0;owned[2J31msdrawkcab"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.at(tmp_path)


@pytest.mark.parametrize("as_json", [False, True])
def test_what_a_user_wrote_never_acts_on_the_operators_terminal(home: Home, as_json: bool) -> None:
    summary = f"Mallory lives in Rome. {ACTING}"
    memory = known_of(home, "mallory", summary)
    for command in (("memories", "mallory"), ("show", str(memory.id)), ("export",)):
        said = home.say(*command, *(["--json"] if as_json and command[0] != "export" else []))
        assert (said.returncode, acting_in(said.stdout + said.stderr)) == (0, set())
        assert "Mallory lives in Rome." in said.stdout
    assert [known["summary"] for known in home.json("memories", "mallory")] == [summary]


@pytest.mark.parametrize(
    "command", [("memories", MARKUP), ("topics", MARKUP), ("subject", "show", MARKUP), ("members", "list", MARKUP)]
)
def test_an_id_that_looks_like_markup_is_an_id(home: Home, command: tuple[str, ...]) -> None:
    for _ in range(2):
        said = home.say(*command)
        assert (said.returncode, "Traceback" in said.stderr, MARKUP in said.stdout) == (0, False, True)
        known_of(home, MARKUP, "He calls himself [bold]nobody[/bold].") if command[0] == "memories" else None


@pytest.mark.parametrize(
    "url",
    [
        "redis://me:hunter2@redis.example:6379/0",
        "redis://:hunter2@redis.example:6379/0",
        "redis://:a/b?c#hunter2@redis.example:6379/0",
        "redis://redis.example:6379/0?password=hunter2",
        "rediss://me:x@hunter2@redis.example/0",
    ],
)
def test_a_run_never_prints_the_brokers_password(home: Home, url: str) -> None:
    assert ("hunter2" in without_password(url), "redis.example" in without_password(url)) == (False, True)
    said = home.say("run", "--once", AFTERTURN_BROKER_URL=url)
    assert said.returncode == 2
    assert "hunter2" not in said.stdout + said.stderr


def test_what_is_written_is_for_its_owner_alone(home: Home) -> None:
    known_of(home, "anna", "Anna lives in Rome.")
    assert (stat.S_IMODE(home.data.stat().st_mode), readable_by_others(home.data)) == (0o700, [])
    export = home.folder / "export.jsonl"
    export.touch(mode=0o644)
    assert home.say("export", str(export)).returncode == 0
    assert [json.loads(line)["memory"]["summary"] for line in export.read_text().splitlines()[1:]] == [
        "Anna lives in Rome."
    ]
    assert stat.S_IMODE(export.stat().st_mode) == 0o600


def test_files_of_an_older_version_are_closed_when_they_are_opened(home: Home) -> None:
    known_of(home, "anna", "Anna lives in Rome.")
    (home.data / "catalog.sqlite3").chmod(0o644)
    assert home.say("memories", "anna").returncode == 0
    assert readable_by_others(home.data) == []


def readable_by_others(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
