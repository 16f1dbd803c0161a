"""Runs mem0 over a world; started by `benchmarks.truth` in mem0's own environment.

    python -m benchmarks.truth_mem0 JOB.json

The model and the embedder are put in the place of its own, so that no call leaves the machine. Its vectors are in
Postgres with pgvector, with a connection for each thread. A call that raises is tried again, as a careful caller would.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.truth_oracle import Oracle, answer_to_mem0
from stores.embedding.minilm import DIMENSIONS, MiniLM

_ATTEMPTS = 6
_FIRST_PAUSE = 0.5


class EmbedderForMem0:
    """Ours, in the form of theirs."""

    def __init__(self) -> None:
        self._model = MiniLM()

    def embed(self, text: str, _memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str], _memory_action: str = "add") -> list[list[float]]:
        return [vector.tolist() for vector in self._model.embed(texts)]


class _Model:
    """The oracle, in the form of theirs."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def generate_response(self, messages: list[dict[str, str]], **_: Any) -> str:
        prompt = "\n".join(message["content"] for message in messages)
        return self._oracle.answer(len(prompt), answer_to_mem0(messages[-1]["content"]))


def _open(folder: Path, database: str, threads: int, oracle: Oracle) -> Any:
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
    import mem0  # not of our environment

    store = {"connection_string": database, "maxconn": threads, "embedding_model_dims": DIMENSIONS}
    config = {
        "vector_store": {"provider": "pgvector", "config": store},
        "llm": {"provider": "openai", "config": {"api_key": "none"}},
        "embedder": {"provider": "openai", "config": {"api_key": "none", "embedding_dims": DIMENSIONS}},
        "history_db_path": str(folder / "history.db"),
    }
    memory = mem0.Memory.from_config(config)
    memory.llm, memory.embedding_model = _Model(oracle), EmbedderForMem0()
    return memory


def _add(memory: Any, user: str, text: str, started: float) -> tuple[float, int]:
    """Return the seconds from the start until the turn was in, and how often the call raised."""
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    for attempt in range(_ATTEMPTS):
        try:
            memory.add(messages, user_id=user)
            return time.monotonic() - started, attempt
        except Exception as error:  # noqa: BLE001 - whatever it raises, a caller would call again
            if attempt == _ATTEMPTS - 1:
                print(f"given up: {type(error).__name__}", file=sys.stderr)
            time.sleep(_FIRST_PAUSE * 2**attempt)
    return time.monotonic() - started, _ATTEMPTS


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(job["folder"])
    logging.disable(logging.CRITICAL)
    oracle = Oracle(job["seconds"], job["faulty"], folder / "calls.log")
    memory = _open(folder, job["database"], job["in_flight"], oracle)
    memory.embedding_model.embed("warm")
    started, before = time.monotonic(), time.process_time()
    with ThreadPoolExecutor(job["in_flight"]) as threads:
        running = [threads.submit(_add, memory, user, text, started) for user, text in job["turns"]]
        ended = [one.result() for one in running]
    seconds, cpu = time.monotonic() - started, time.process_time() - before
    rows = {
        user: [row["memory"] for row in memory.get_all(filters={"user_id": user}, top_k=10_000)["results"]]
        for user in job["users"]
    }
    result = {
        "rows": rows,
        "seconds": seconds,
        "cpu": cpu,
        "lags": [lag for lag, _ in ended],
        "raised": sum(times for _, times in ended),
        "lost": sum(times == _ATTEMPTS for _, times in ended),
    }
    Path(job["result"]).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
