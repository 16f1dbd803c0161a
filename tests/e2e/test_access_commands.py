"""`keys`, `members` and `serve` as an operator uses them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.e2e.command import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.at(tmp_path)


def test_a_key_is_shown_once_and_listed_without_its_secret(home: Home) -> None:
    made = home.json("keys", "create", "chat backend", "--can", "read", "--can", "act_as", "--days", "30")
    [listed] = home.json("keys", "list")
    assert made["key"].startswith("at_")
    assert (listed["id"], listed["capabilities"]) == (made["id"], ["act_as", "read"])
    assert made["key"] not in home.say("keys", "list").stdout


def test_ids_are_whole_in_the_lists_of_a_narrow_terminal(home: Home) -> None:
    key = home.json("keys", "create", "the backend of the chat", "--can", "read", "--can", "act_as")
    webhook = home.json("webhooks", "add", "https://example.com/memory", "--event", "memory.created")
    assert key["id"] in home.spawn("keys", "list", COLUMNS="80").stdout
    assert webhook["id"] in home.spawn("webhooks", "list", COLUMNS="80").stdout


@pytest.mark.parametrize(
    ("given", "may"),
    [
        ([], {"read", "turns"}),
        (["--user", "maya"], {"read", "turns"}),
        (["--agent", "coach"], {"read", "write_own"}),
        (["--user", "maya", "--agent", "coach"], {"read", "write_own"}),
        (["--agent", "coach", "--can", "read"], {"read"}),
    ],
)
def test_a_key_of_which_nobody_says_what_it_may_reads_and_does_what_is_its_own(
    home: Home, given: list[str], may: set[str]
) -> None:
    assert set(home.json("keys", "create", "somebody", *given)["capabilities"]) == may


def test_a_list_of_keys_names_whom_each_stands_for(home: Home) -> None:
    home.say("keys", "create", "notes", "--user", "maya", "--agent", "coach")
    home.say("keys", "create", "backend")
    listed = home.say("keys", "list").stdout
    assert "user maya, agent coach" in listed
    assert "the tenant" in listed


def test_a_revoked_key_is_listed_only_when_all_are_asked_for(home: Home) -> None:
    made = home.json("keys", "create", "old")
    home.json("keys", "revoke", made["id"])
    assert home.json("keys", "list") == []
    assert [key["id"] for key in home.json("keys", "list", "--all")] == [made["id"]]


def test_a_key_that_is_not_there_cannot_be_rotated(home: Home) -> None:
    home.say("keys", "create", "somebody")
    said = home.say("keys", "rotate", "key_nobody")
    assert said.returncode == 2
    assert "afterturn keys list" in said.stderr


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["keys", "create", "backend", "--days", "3000000"], "--days"),
        (["keys", "create", " "], "name"),
        (["keys", "create", "x" * 101], "name"),
        (["keys", "rotate", "key_nobody", "--overlap", "1e9"], "--overlap"),
        (["serve", "--port", "65536"], "--port"),
        (["costs", "--days", "99999999"], "--days"),
        (["serve", "--processes", "100000"], "--processes"),
        (["reviews", "list", "--limit", "99999999999999999999"], "--limit"),
        (["memories", "anna", "--limit", "99999999999999999999"], "--limit"),
    ],
)
def test_what_cannot_be_given_is_named(home: Home, given: list[str], named: str) -> None:
    said = home.say(*given)
    assert said.returncode == 2
    assert f"Invalid value for '{named}'" in said.stderr


def test_members_are_set_listed_and_removed(home: Home) -> None:
    home.say("members", "set", "legacy", "anna", "pending")
    home.say("members", "set", "legacy", "anna", "admirer", "--by", "dora")
    assert [(one["user_id"], one["role"], one["by"]) for one in home.json("members", "list", "legacy")] == [
        ("anna", "admirer", "dora")
    ]
    assert home.say("members", "remove", "legacy", "anna").returncode == 0
    assert home.json("members", "list", "legacy") == []
    assert "no member" in home.say("members", "remove", "legacy", "anna").stderr


def test_a_port_for_metrics_that_is_taken_is_named_before_anything_listens(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = home.say("serve", AFTERTURN_HTTP_METRICS_PORT=str(port))
    assert said.returncode == 2
    assert "AFTERTURN_HTTP_METRICS_PORT" in said.stderr


@pytest.mark.parametrize("processes", ["1", "2"])
def test_an_address_of_the_service_that_is_taken_is_named_in_one_line(home: Home, processes: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = home.say("serve", "--processes", processes, AFTERTURN_HTTP_PORT=port)
    assert said.returncode == 2
    assert [("AFTERTURN_HTTP_PORT" in line, f"127.0.0.1:{port}" in line) for line in said.stderr.splitlines()] == [
        (True, True)
    ]


@pytest.mark.parametrize("processes", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_a_service_that_fails_as_it_starts_ends_as_every_command_does(home: Home, processes: str) -> None:
    said = home.spawn("serve", "--processes", processes, AFTERTURN_PAGES_CATALOGUES=str(home.folder / "nowhere"))
    assert said.returncode == 2
    assert "AFTERTURN_PAGES_CATALOGUES" in said.stderr


def test_what_the_command_writes_is_for_its_account_alone(home: Home) -> None:
    home.spawn("keys", "create", "backend")
    home.spawn("export", str(home.folder / "all.jsonl"))
    written = [home.data, *home.data.rglob("*"), home.folder / "all.jsonl"]
    assert len(written) > 2
    assert [path for path in written if path.stat().st_mode & 0o077] == []
