"""The conformance suite of the Model Context Protocol finds nothing wrong with /mcp.

Here are the scenarios that any server can be asked. Most others want tools, prompts and resources of the suite's own
making; two are about sessions, which a stateless server has none of.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.service import Served, served, settings_in
from tests.npm import installed, node_of

pytestmark = pytest.mark.long
GENERIC: Final = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("npm"))


@pytest.fixture(scope="module")
def open_service(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service for this machine alone: the suite has no key to send."""
    with served(settings_in(tmp_path_factory.mktemp("service"), broker_url), anonymous=True) as running:
        yield running


@pytest.mark.parametrize("scenario", GENERIC)
def test_a_scenario_of_the_conformance_suite_passes(
    open_service: Served, packages: Path, scenario: str, tmp_path: Path
) -> None:
    suite = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    url = f"{open_service.url}/mcp?user_id=anna"
    command = [node_of(packages), str(suite), "server", "--url", url, "--scenario", scenario, "-o", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert said.returncode == 0, said.stdout + said.stderr
    [checks] = tmp_path.glob("*/checks.json")
    results = {check["id"]: check["status"] for check in json.loads(checks.read_text())}
    assert set(results.values()) & {"FAILURE", "WARNING"} == set(), results
