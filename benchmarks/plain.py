"""What one would write without a mailbox: one Celery task a turn, on the fleet's own Celery configuration."""

from __future__ import annotations

import os
import time
from typing import Any

from benchmarks.stub_llm import SECONDS, logged
from schema import Turn
from schema.settings import load_settings
from stores.queue import INGEST_TURN, create_celery
from worker.app import app as fleet_app

app = create_celery(load_settings())
_configured: dict[str, Any] = fleet_app.conf.changes or {}
app.conf.update({name: value for name, value in _configured.items() if name != "include"})


@app.task(name=INGEST_TURN)
def ingest_turn(turn: Any) -> None:
    """Ask the model, and that is all: nothing is compared, written or indexed."""
    with logged([Turn.model_validate(turn)]):
        time.sleep(float(os.environ[SECONDS]))
