"""The package that a chat backend installs is small, typed, and has no name of the house in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from afterturn_client import AsyncClient, Client, Invalid, NotConnected, Problem, RequestFailed, Unavailable
from afterturn_client.backoff import pause_before
from afterturn_client.errors import error_of
from afterturn_client.requests import Request, edit, forget, get, pin, remember, search

ROOT = Path(__file__).parents[1]


def test_it_needs_httpx_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [requirement.split(">")[0] for requirement in project["dependencies"]] == ["httpx"]
    assert (ROOT / "afterturn_client" / "py.typed").exists()


def test_to_import_it_loads_the_standard_library_alone() -> None:
    """httpx takes longer than all the rest, and comes with the first client."""
    asks = "import json, sys, afterturn_client; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run([sys.executable, "-c", asks], env=environment, capture_output=True, text=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-c", asks.replace(", afterturn_client", "")], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(finished.stdout)) - set(json.loads(bare.stdout)) - sys.stdlib_module_names
    assert loaded == {"afterturn_client"}


def test_to_import_it_takes_less_than_to_import_httpx() -> None:
    """Beside each other and by the processor's clock, so that it holds on a busy machine: .15 s of an idle one."""
    asks = "import time; began = time.process_time(); import {}; print(time.process_time() - began)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def took(name: str) -> float:
        command = [sys.executable, "-c", asks.format(name)]
        return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

    pairs = [(took("afterturn_client"), took("httpx")) for _ in range(4)]
    ours, theirs = (min(seconds) for seconds in zip(*pairs, strict=True))
    assert ours < theirs


def test_both_clients_have_the_same_methods_with_their_words() -> None:
    def public(client: type) -> dict[str, str | None]:
        return {name: getattr(client, name).__doc__ for name in vars(client) if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)
    assert all(public(Client).values())
    assert Client.search.__name__ == "search"


def away(status: int | None, *, retry_after: float | None = None) -> RequestFailed:
    if status is None:
        return NotConnected(None, "no answer")
    return error_of(Problem(status, "", ""), retry_after=retry_after)


@pytest.mark.parametrize(
    ("request_", "failure", "is_sent_again"),
    [
        (search("vegan"), away(503), True),
        (search("vegan"), away(503, retry_after=1), True),
        (search("vegan"), away(503, retry_after=60), False),
        (search("vegan"), Unavailable(None, "cut off"), True),
        (search("vegan"), away(404), False),
        (pin("0" * 32), Unavailable(None, "cut off"), True),
        (remember("Anna is vegan."), Unavailable(None, "cut off"), False),
        (remember("Anna is vegan."), away(502), False),
        (remember("Anna is vegan."), away(503), True),
        (remember("Anna is vegan."), away(None), True),
    ],
)
def test_only_what_was_not_done_or_may_be_done_twice_is_sent_again(
    request_: Request[object], failure: RequestFailed, is_sent_again: bool
) -> None:
    assert (pause_before(1, request_, failure, attempts=3) is not None) == is_sent_again
    assert pause_before(3, request_, failure, attempts=3) is None


@pytest.mark.parametrize("memory_id", ["../subjects/maya", "", "1"])
@pytest.mark.parametrize("build", [get, forget, pin, lambda memory_id: edit(memory_id, content="x", version=None)])
def test_what_is_no_id_is_refused_and_reaches_no_other_route(build: Callable[[str], object], memory_id: str) -> None:
    with pytest.raises(Invalid, match=r"memory_id: .*UUID") as refused:
        build(memory_id)
    assert refused.value.__suppress_context__
