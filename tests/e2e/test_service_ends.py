"""A service that is told to end while somebody listens: streams end, and whoever listens comes back elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from memory.keys import issue
from schema import Capability
from stores.catalog import open_catalog
from tests.conftest import free_port
from tests.e2e.command import COMMAND, WAIT_SECONDS, Home, wait_until
from tests.e2e.service import settings_in


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_stream_ends_as_a_whole_when_the_service_is_told_to_end_and_nothing_waits_for_it(
    broker_url: str, tmp_path: Path, processes: int
) -> None:
    settings = settings_in(tmp_path / "data", broker_url)
    with closing(open_catalog(settings)) as catalog:
        key = issue("test", "acme", tuple(Capability), catalog, by="test", now=datetime.now(UTC), user_id="ada").secret
    port, log = free_port(), tmp_path / "serve.log"
    environment = Home(tmp_path, 0).environment(
        AFTERTURN_DATA_DIR=str(settings.data_dir),
        AFTERTURN_BROKER_URL=broker_url,
        AFTERTURN_HTTP_PORT=str(port),
        AFTERTURN_HTTP_PROCESSES=str(processes),
    )
    with log.open("wb") as said:
        process = subprocess.Popen([*COMMAND, "serve"], env=environment, stdout=said, stderr=said)
    try:
        wait_until(lambda: log.read_text().count("Application startup complete") == processes, "it answers")
        with (
            httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": key}, timeout=60.0) as client,
            client.stream("GET", "/api/v1/events") as stream,
        ):
            lines = stream.iter_lines()
            assert next(lines) == ": listening"
            os.kill(process.pid, signal.SIGTERM)
            # It raises where the connection is cut before the answer is whole.
            assert not [line for line in lines if line.startswith("event:")]
        process.wait(WAIT_SECONDS)
    finally:
        process.kill()
        process.wait()
    assert "timeout graceful shutdown exceeded" not in log.read_text()
    assert "Traceback" not in log.read_text()
