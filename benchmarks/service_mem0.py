"""Runs mem0's own REST server; started by `benchmarks.service` in mem0's environment.

    python -m benchmarks.service_mem0 JOB.json

The server is `server/` of a checkout of its repository, as it is, with a key that is compared and not hashed. Its model
and its embedder are put in the place of its own, so that no call leaves the machine: the embedder is ours, and the
model says at once that nothing is to be kept, which is the fastest that it can be.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import make_url

from benchmarks.truth_mem0 import EmbedderForMem0
from stores.embedding.minilm import DIMENSIONS

_A_COMMIT = 500


class _Model:
    """Keeps nothing, in the form of their models."""

    def generate_response(self, *_: Any, **__: Any) -> str:
        return json.dumps({"memory": []})


def main(job: Path) -> None:
    """Fill mem0 with what the job says, and serve."""
    told = json.loads(job.read_text())
    database, folder = make_url(told["database"]), Path(told["folder"])
    os.environ |= {
        "POSTGRES_HOST": str(database.host),
        "POSTGRES_PORT": str(database.port),
        "POSTGRES_DB": str(database.database),
        "APP_DB_NAME": str(database.database),
        "POSTGRES_USER": str(database.username),
        "POSTGRES_PASSWORD": str(database.password or ""),
        "OPENAI_API_KEY": "none",
        "ADMIN_API_KEY": told["key"],
        "JWT_SECRET": "of no account: nobody signs in",
        "HISTORY_DB_PATH": str(folder / "history.db"),
        "MEM0_DIR": str(folder),
        "MEM0_TELEMETRY": "False",
        "MEM0_TELEMETRY_STATE_PATH": str(folder / "telemetry.json"),
    }
    sys.path.insert(0, told["server"])
    import mem0  # not of our environment

    of_theirs = mem0.Memory.from_config

    def from_config(config: dict[str, Any]) -> Any:
        config["vector_store"]["config"] |= {"embedding_model_dims": DIMENSIONS, "maxconn": told["connections"]}
        memory = of_theirs(config)
        memory.llm, memory.embedding_model = _Model(), EmbedderForMem0()
        return memory

    mem0.Memory.from_config = from_config
    import uvicorn

    import_module("models").Base.metadata.create_all(import_module("db").engine)
    server = import_module("main")
    _fill(server.get_memory_instance().vector_store, told)
    uvicorn.run(server.app, host="127.0.0.1", port=told["port"], log_level="error", access_log=False)


def _fill(store: Any, told: dict[str, Any]) -> None:
    """Write the memories beside its model, with vectors that are ready."""
    vectors: NDArray[np.float32] = np.load(told["vectors"])
    rows = json.loads(Path(told["memories"]).read_text())
    for start in range(0, len(rows), _A_COMMIT):
        some = rows[start : start + _A_COMMIT]
        store.insert(
            vectors=vectors[start : start + _A_COMMIT].tolist(),
            payloads=[{"data": row["text"], "user_id": row["user"], "created_at": row["at"]} for row in some],
            ids=[row["id"] for row in some],
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
