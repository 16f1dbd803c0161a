"""A service whose disk ends with it, as a pod's does: it accepts nothing that the broker does not have."""

from __future__ import annotations

import shutil
import uuid
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx
import pytest
import yaml

from afterturn_client import Client
from tests.chart import EXAMPLES, rendered
from tests.conftest import free_port
from tests.e2e.command import Home, wait_until
from tests.e2e.killed import killable, parked
from tests.fleet.bad_broker import BadBroker

TURNS: Final = 6
PATIENT_MS: Final = 20_000.0


def settings_of_pods() -> dict[str, str]:
    """What the chart says of the spool and of how long the service waits for the broker, where nobody sets it."""
    manifests = rendered(yaml.safe_load(EXAMPLES[0].read_text()))
    [given] = [one["data"] for one in manifests if one["kind"] == "ConfigMap"]
    return {name: value for name, value in given.items() if "SPOOL" in name or "BUDGET" in name}


@pytest.mark.long
def test_what_a_pod_accepted_while_the_broker_came_and_went_outlives_the_pod_and_its_disk(tmp_path: Path) -> None:
    home, port, user = Home.at(tmp_path), free_port(), f"anna-{uuid.uuid4().hex[:8]}"
    url, disk = f"http://127.0.0.1:{port}", tmp_path / "of-the-pod"
    said = [f"I have {number} cats." for number in range(TURNS)]

    def turn(number: int) -> dict[str, object]:
        return {"user_id": user, "messages": [{"role": "user", "content": said[number]}], "turn_id": f"t{number}"}

    with closing(BadBroker(tmp_path / "broker")) as broker:
        told = {**settings_of_pods(), "AFTERTURN_SPOOL_DIR": str(disk)}
        with Client(url, spool_dir=tmp_path / "of-the-backend", budget_ms=PATIENT_MS) as client:
            with broker.gone(), killable(home, broker.url, port, **told):
                refused = httpx.post(f"{url}/api/v1/turns", json=turn(0), timeout=30.0)
                assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE
                assert int(refused.headers["Retry-After"]) > 0
                for number in range(TURNS):
                    client.enqueue(user, [{"role": "user", "content": said[number]}], turn_id=f"t{number}")
                assert client.flush(1) == TURNS
            shutil.rmtree(disk)
            with killable(home, broker.url, port, **told):
                wait_until(lambda: client.flush(1) == 0, "the backend's turns are taken")
        taken = parked(broker.direct_url, home.data, user, "default")
    assert [(turn_id, messages[0]["content"]) for turn_id, messages in taken.items()] == [
        (f"t{number}", text) for number, text in enumerate(said)
    ]
