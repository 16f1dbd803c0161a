"""Anthropic's memory tool over the real service: what a model asks, and what it must not reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from afterturn_client import Client
from afterturn_client.memory_tool import MemoryTool, ToolFailed
from afterturn_client.requests import Request
from tests.e2e.pages import Page
from tests.e2e.service import Served

NOTES = "/memories/people/notes.txt"


@pytest.fixture
def client(service: Served, tmp_path: Path) -> Iterator[Client]:
    with Client(service.url, service.key(), spool_dir=tmp_path / "spool") as client:
        yield client


@pytest.fixture
def tool(client: Client, user: str) -> MemoryTool:
    return MemoryTool(client, user)


class Between:
    """A client that another agent does something with before the first write of its own."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.does: Callable[[], object] | None = None

    def send(self, request: Request[Any]) -> Any:
        if request.path.endswith("/write") and self.does is not None:
            does, self.does = self.does, None
            does()
        return self._client.send(request)


def ask(tool: MemoryTool, command: str, **said: Any) -> str:
    return tool.run({"command": command, **said})


def test_a_file_is_made_read_changed_moved_and_deleted(tool: MemoryTool) -> None:
    assert ask(tool, "view", path="/memories").endswith(":\n0\t/memories")
    assert ask(tool, "create", path=NOTES, file_text="Maya\nlikes tea\n") == f"File created successfully at: {NOTES}"
    assert ask(tool, "view", path="/memories").splitlines()[1:] == [
        "15\t/memories",
        "15\t/memories/people",
        f"15\t{NOTES}",
    ]
    assert "     2\tlikes coffee" in ask(tool, "str_replace", path=NOTES, old_str="tea", new_str="coffee")
    assert ask(tool, "insert", path=NOTES, insert_line=0, insert_text="# Notes") == f"The file {NOTES} has been edited."
    said = ask(tool, "view", path=NOTES, view_range=[1, 2])
    assert said == f"Here's the content of {NOTES} with line numbers:\n     1\t# Notes\n     2\tMaya"
    ask(tool, "rename", old_path="/memories/people", new_path="/memories/friends")
    assert "likes coffee" in ask(tool, "view", path="/memories/friends/notes.txt")
    ask(tool, "delete", path="/memories/friends")
    with pytest.raises(ToolFailed, match="does not exist"):
        ask(tool, "view", path="/memories/friends/notes.txt")


def test_what_no_line_ends_with_stays_as_it_was_when_lines_are_inserted(tool: MemoryTool) -> None:
    """A page break, and the separators that Unicode has, are text; so is the CR of another system's lines."""
    ask(tool, "create", path=NOTES, file_text="one\x0ctwo\u2028three\r\nfour")
    ask(tool, "insert", path=NOTES, insert_line=1, insert_text="five\x85six\n")
    said = ask(tool, "view", path=NOTES)
    assert said.partition("\n")[2] == "     1\tone\x0ctwo\u2028three\r\n     2\tfive\x85six\n     3\tfour"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/memories/../etc/passwd",
        "/memories/./a",
        "/memories//a",
        "/memories\\..\\a",
        "/memoriesother/a",
        "memories/a",
        "",
        "/memories/a\x00",
        None,
    ],
)
def test_no_path_leads_out_of_the_folder(tool: MemoryTool, path: str | None) -> None:
    for command in ({"command": "view", "path": path}, {"command": "rename", "old_path": NOTES, "new_path": path}):
        with pytest.raises(ToolFailed, match="under /memories"):
            tool.run(command)


def test_what_cannot_be_done_is_said_to_the_model(tool: MemoryTool) -> None:
    ask(tool, "create", path=NOTES, file_text="tea\ntea\n")
    for said, command in (
        ("already exists", {"command": "create", "path": NOTES, "file_text": ""}),
        ("file and a directory", {"command": "create", "path": f"{NOTES}/a", "file_text": ""}),
        ("in lines: 1, 2", {"command": "str_replace", "path": NOTES, "old_str": "tea", "new_str": "x"}),
        ("did not appear", {"command": "str_replace", "path": NOTES, "old_str": "milk", "new_str": "x"}),
        (r"\[0, 2\]", {"command": "insert", "path": NOTES, "insert_line": 3, "insert_text": "x"}),
        ("does not exist", {"command": "delete", "path": "/memories/none"}),
        ("itself", {"command": "delete", "path": "/memories"}),
        ("already exists", {"command": "rename", "old_path": NOTES, "new_path": "/memories/people"}),
        ("should be text", {"command": "create", "path": "/memories/b", "file_text": 1}),
        ("no command", {"command": "chmod"}),
    ):
        with pytest.raises(ToolFailed, match=said):
            tool.run(command)


@pytest.mark.parametrize(
    "command",
    [
        {"command": "str_replace", "path": NOTES, "old_str": "tea", "new_str": "coffee"},
        {"command": "insert", "path": NOTES, "insert_line": 1, "insert_text": "likes coffee"},
        {"command": "delete", "path": "/memories/people"},
        {"command": "rename", "old_path": NOTES, "new_path": "/memories/moved.txt"},
    ],
    ids=lambda command: str(command["command"]),
)
@pytest.mark.parametrize("meanwhile", ["changed", "deleted", "nothing"])
def test_what_another_agent_does_between_the_read_and_the_write_is_not_lost(
    client: Client, user: str, command: dict[str, Any], meanwhile: str
) -> None:
    other, between = MemoryTool(client, user), Between(client)
    ask(other, "create", path=NOTES, file_text="Maya likes tea\n")
    if meanwhile == "changed":
        between.does = lambda: ask(other, "insert", path=NOTES, insert_line=0, insert_text="allergic to nuts")
    elif meanwhile == "deleted":
        between.does = lambda: ask(other, "delete", path=NOTES)
    tool = MemoryTool(cast(Client, between), user)
    if meanwhile == "nothing":
        tool.run(command)
        return
    with pytest.raises(ToolFailed, match="View it again"):
        tool.run(command)
    files = ask(other, "view", path="/memories").splitlines()[2:]
    if meanwhile == "deleted":
        assert files == []
    else:
        assert "allergic to nuts\n     2\tMaya likes tea" in ask(other, "view", path=NOTES)
        assert len(files) == 2
        tool.run(command)


@pytest.mark.parametrize(
    "command",
    [
        {"command": "insert", "insert_line": 1, "insert_text": "likes coffee"},
        {"command": "delete"},
    ],
    ids=lambda command: str(command["command"]),
)
@pytest.mark.parametrize("saw", ["view", "create", "insert", "rename"])
def test_what_another_agent_did_since_the_model_saw_a_file_is_told_before_a_line_is_counted_or_it_is_deleted(
    client: Client, user: str, command: dict[str, Any], saw: str
) -> None:
    tool, other = MemoryTool(client, user), MemoryTool(client, user)
    made = other if saw == "view" else tool
    ask(made, "create", path="/memories/a" if saw == "rename" else NOTES, file_text="Maya likes tea\nand Bach\n")
    if saw == "view":
        ask(tool, "view", path=NOTES, view_range=[1, 1])
    elif saw == "insert":
        ask(tool, "insert", path=NOTES, insert_line=2, insert_text="and walks")
    elif saw == "rename":
        ask(tool, "rename", old_path="/memories/a", new_path=NOTES)
    ask(other, "insert", path=NOTES, insert_line=0, insert_text="allergic to nuts")
    for _ in range(2):
        with pytest.raises(ToolFailed, match=r"since you saw it.*View it again"):
            tool.run({**command, "path": NOTES})
        # What is found by its words is found wherever it stands, and shows a part of the file.
        ask(tool, "str_replace", path=NOTES, old_str="Bach", new_str="Bach")
    ask(tool, "view", path=NOTES)
    tool.run({**command, "path": NOTES})


@pytest.mark.parametrize("command", ["create", "rename"])
def test_a_file_that_another_agent_makes_meanwhile_is_not_overwritten(client: Client, user: str, command: str) -> None:
    other, between = MemoryTool(client, user), Between(client)
    ask(other, "create", path="/memories/old", file_text="old")
    between.does = lambda: ask(other, "create", path="/memories/new", file_text="theirs")
    tool = MemoryTool(cast(Client, between), user)
    with pytest.raises(ToolFailed, match=r"already exists|View it again"):
        if command == "create":
            ask(tool, "create", path="/memories/new", file_text="mine")
        else:
            ask(tool, "rename", old_path="/memories/old", new_path="/memories/new")
    assert ask(other, "view", path="/memories/new").endswith("\ttheirs")
    assert ask(other, "view", path="/memories/old").endswith("\told")


def test_of_many_agents_that_write_into_one_file_at_once_no_edit_is_lost(client: Client, user: str) -> None:
    ask(MemoryTool(client, user), "create", path=NOTES, file_text="")

    def note(number: int) -> int:
        for tries in range(1, 200):
            try:
                ask(MemoryTool(client, user), "insert", path=NOTES, insert_line=0, insert_text=f"note {number}")
            except ToolFailed:
                continue
            return tries
        raise AssertionError("never written")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(note, range(12)))
    lines = ask(MemoryTool(client, user), "view", path=NOTES).splitlines()[1:]
    assert sorted(line.partition("\t")[2] for line in lines) == sorted(f"note {number}" for number in range(12))


def test_the_files_of_one_user_are_nobody_elses(client: Client, tool: MemoryTool, user: str) -> None:
    ask(tool, "create", path="/memories/a", file_text="mine")
    assert ask(MemoryTool(client, f"{user}-other"), "view", path="/memories").endswith(":\n0\t/memories")
    assert client.forget_user(user).clean
    assert ask(tool, "view", path="/memories").endswith(":\n0\t/memories")


def test_the_code_of_the_page_answers_a_model(environment: None) -> None:
    page = Page("use-anthropics-memory-tool").run("MemoryTool(")
    answer, tool = page["answer"], page["tool"]
    made = answer(tool, "tu_1", {"command": "create", "path": "/memories/a", "file_text": "tea"})
    refused = answer(tool, "tu_2", {"command": "view", "path": "/memories/../a"})
    assert (made["is_error"], refused["is_error"], refused["tool_use_id"]) == (False, True, "tu_2")
    tool._client.close(1)
