"""What the command prints of what users said commands no terminal and is no markup, and tells no password."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from interfaces.cli.main import main
from interfaces.cli.output import PlainConsole, own_command, print_json

_HARMLESS = set("\n")


def printed(renderable: object) -> str:
    console = PlainConsole()
    console.file = io.StringIO()
    console.print(renderable)
    return console.file.getvalue()


@given(st.text(alphabet=st.characters(max_codepoint=0x2100), max_size=60))
def test_no_control_character_reaches_the_terminal(said: str) -> None:
    table = Table(title=said)
    table.add_column("x")
    table.add_row(Text(said))
    for renderable in (said, Text(said), table, Panel(Text(said), title=Text(said))):
        shown = printed(renderable)
        assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown if one not in _HARMLESS)


def test_an_escape_sequence_is_shown_as_what_it_is() -> None:
    assert "\\x1b[2J" in printed(Text("\x1b[2J"))


@pytest.mark.parametrize("id_", ["[/x]", "[bold]anna", "[link=http://x]"])
def test_what_looks_like_markup_is_printed_as_it_is(id_: str) -> None:
    assert id_ in printed(f"user {id_}")


def test_json_has_no_character_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    said = {"summary": "a\x1b[2J\x9b2Jb\u202e"}
    print_json(said)
    out = capsys.readouterr().out
    assert not any(one in out for one in "\x1b\x9b\u202e")
    assert json.loads(out) == said


def test_what_is_said_of_a_wrong_use_has_no_character_that_a_terminal_obeys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["afterturn", "status", "a\x9b2Jb\u202ec"])
    with pytest.raises(SystemExit, match="2"):
        main()
    err = capsys.readouterr().err
    assert "a\\x9b2Jb\\u202ec" in err
    assert not any(one in err for one in "\x9b\u202e")


def test_a_command_that_is_shown_has_no_password_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_BROKER_URL", "redis://:hunter2@broker:6379/0")
    monkeypatch.setenv("AFTERTURN_DATA_DIR", "/srv/after turn")
    shown = own_command()
    assert "hunter2" not in shown
    assert "AFTERTURN_BROKER_URL='redis://:***@broker:6379/0'" in shown
    assert "AFTERTURN_DATA_DIR='/srv/after turn'" in shown
