"""The bare broker: the worker's own Celery configuration with a task that does nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from memory.queue import INGEST_TURN, create_celery
from memory.settings import load_settings
from worker.app import app as fleet_app

app = create_celery(load_settings())
app.conf.update({name: fleet_app.conf[name] for name in fleet_app.conf.changes if name != "include"})
_marks = Path(os.environ["BENCH_MARKS"]).open("ab", buffering=0)


@app.task(name=INGEST_TURN)
def ingest_turn(_turn: Any) -> None:
    """Only leave a mark, so that the benchmark sees the end."""
    _marks.write(b".")
