"""The page on coming from mem0: what it exports is taken over, and its code runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from afterturn_client import Client
from tests.contract.test_mem0 import ROWS
from tests.e2e.command import Home
from tests.e2e.pages import Page

PAGE = Page("come-from-mem0")


class Mem0:
    """Answers as mem0's `get_all` does."""

    def get_all(self, *, filters: dict[str, str], top_k: int) -> dict[str, list[Any]]:
        found = [row for row in ROWS if isinstance(row, dict) and row.get("user_id") == filters["user_id"]]
        return {"results": found[:top_k]}


def test_the_command_takes_what_the_pages_code_wrote_and_names_what_it_cannot(tmp_path: Path, broker_url: str) -> None:
    file = tmp_path / "mem0.json"
    PAGE.run("write_all")["write_all"](Mem0(), ["maya"], file)
    home = Home.at(tmp_path / "home")
    told = home.say("import", "--from", "mem0", str(file), AFTERTURN_BROKER_URL=broker_url)
    assert told.returncode == 2, told.stderr
    assert "1 created" in told.stdout
    assert "metadata.source was left out of 1 rows" in told.stdout
    said = " ".join(told.stderr.split())
    assert "row 3 (id m3): memory: is missing" in said
    assert "row 5 (id m6): created_at" in said
    assert "hunter2" not in said


def test_the_pages_chat_answers_with_what_is_known(environment: None) -> None:
    page = PAGE.run("def chat")
    page["memory"].remember("Iris is vegan.", user_id="iris")
    assert "Iris is vegan." in page["chat"]("iris", "What can I eat?", lambda block, said: block)
    assert isinstance(page["memory"], Client)
    page["memory"].close(1)
