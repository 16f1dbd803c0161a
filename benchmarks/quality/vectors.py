"""An embedder that remembers what it embedded from run to run, for those who run the benchmark again and again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from stores.embedding.base import AroundEmbedder, Embedder, Vectors


class KeptVectors(AroundEmbedder):
    """Another embedder, with its vectors in an SQLite file that several processes may share."""

    def __init__(self, embedder: Embedder, file: Path) -> None:
        super().__init__(embedder)
        self._lock = Lock()
        self._file = sqlite3.connect(file, timeout=60, isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            known = {text: row[0] for text in texts if (row := self._kept(text))}
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            made = self._embedder.embed(missing)
            known |= {text: vector.astype("<f4").tobytes() for text, vector in zip(missing, made, strict=True)}
            with self._lock:
                self._file.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?)", [(self._key(text), known[text]) for text in missing]
                )
        stored = b"".join(known[text] for text in texts)
        return np.frombuffer(stored, dtype="<f4").reshape(len(texts), self.dimensions).astype(np.float32)

    def _kept(self, text: str) -> tuple[bytes] | None:
        found: tuple[bytes] | None = self._file.execute(
            "SELECT vector FROM vectors WHERE text = ?", (self._key(text),)
        ).fetchone()
        return found

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.name}\n{text}".encode()).digest()
