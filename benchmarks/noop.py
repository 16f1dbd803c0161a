"""The bare broker: the worker's own Celery configuration with a task that does nothing."""

from __future__ import annotations

import os
from typing import Any

from schema.settings import load_settings
from stores.queue import INGEST_TURN, create_celery
from worker.app import app as fleet_app

app = create_celery(load_settings())
_configured: dict[str, Any] = fleet_app.conf.changes or {}
app.conf.update({name: value for name, value in _configured.items() if name != "include"})
_marks = os.open(os.environ["BENCH_MARKS"], os.O_WRONLY | os.O_APPEND)


@app.task(name=INGEST_TURN)
def ingest_turn(_turn: Any) -> None:
    """Leave a mark and nothing else, so that the benchmark sees the end."""
    os.write(_marks, b".")
