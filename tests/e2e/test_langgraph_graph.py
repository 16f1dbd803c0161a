"""LangGraph's own graph and LangMem's own tools, as their packages are published, against the real service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from schema import Capability
from tests.e2e.service import Served
from tests.e2e.test_langgraph_page import parked
from tests.package_index import not_given

ROOT: Final = Path(__file__).parents[2]
_UV: Final = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def told(service: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What they do, in an environment of their own: LangMem brings the clients of two providers of models."""
    folder = tmp_path_factory.mktemp("langgraph")
    python = folder / "venv" / "bin" / "python"
    subprocess.run([_UV, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    lock = Path(__file__).with_name("langgraph.lock")
    install: list[str | Path] = [_UV, "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", lock]
    said = subprocess.run(install, capture_output=True, text=True, check=False)
    if said.returncode:
        not_given("LangMem", said)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT / 'clients' / 'python'}:{ROOT}",
        "XDG_STATE_HOME": str(folder),
        "AFTERTURN_URL": service.url,
        "AFTERTURN_API_KEY": service.key(Capability.READ, Capability.WRITE, Capability.TURNS, Capability.ACT_AS),
    }
    script = [python, ROOT / "tests" / "e2e" / "langgraph_graph.py"]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def test_langmems_tools_keep_find_change_and_delete_in_the_store(told: dict[str, Any]) -> None:
    violin, cello = ["Ida plays the violin."], ["Ida plays the cello."]
    assert told["langmem"] == {"created": True, "found": violin, "by another": [], "updated": cello, "deleted": []}
    assert told["langmem awaited"] == ["Ina plays the violin."]


def test_the_graph_of_the_page_answers_with_what_is_known_and_hands_the_turn_over(
    service: Served, told: dict[str, Any]
) -> None:
    assert "Maya is vegan." in told["graph of the page"]
    # The tests of other pages share the broker, and have a maya too.
    assert "What can I cook?" in [turn["messages"][0]["content"] for turn in parked(service, "maya")]


@pytest.mark.parametrize(("run", "user"), [("graph", "uma"), ("graph awaited", "udo")])
def test_a_graph_knows_its_user_hands_turns_over_and_has_the_store(
    service: Served, told: dict[str, Any], run: str, user: str
) -> None:
    graph = told[run]
    # One message says what is known, before all others, however long the conversation gets.
    assert graph["kinds"] == ["system", *["human", "ai"] * 3]
    assert f"{user} is vegan." in graph["told"]
    assert graph["namespaces"] == [[user, "asked"], [user, "memories"]]
    assert graph["noted"] == ["And for tomorrow?", f"Remember: {user} is vegan.", "Use a tool.", "What can I cook?"]
    assert graph["left"] == 0
    said = [turn["messages"][0]["content"] for turn in parked(service, user)]
    assert said == [f"Remember: {user} is vegan.", "What can I cook?", "And for tomorrow?", "Use a tool."]
