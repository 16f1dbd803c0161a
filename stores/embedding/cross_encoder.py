"""MiniLM fine-tuned to read two statements at once: whether the later one ends what the earlier one tells, or asks for
it to be forgotten.

Two vectors made apart do not say it: "handed in my badge" is as near to "works at Siemens" as to "Siemens called".
`python -m benchmarks.fit_cross_encoder` and `python -m benchmarks.fit_forget_reader` fit the weights;
docs/reference/cross-encoder.md says on what, and how right they are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from threading import Lock, Semaphore
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from stores.embedding.minilm import model_content, tokenizer_content

Floats = NDArray[np.float32]
MAX_TOKENS: Final = 96
"""Tokens that are read of both statements together."""
ENDINGS: Final = "cross_encoder.npz"
"""The weights that say how likely the later statement ends what the earlier one tells: takes its place, corrects, moves
or cancels it."""
FORGETTING: Final = "forget_reader.npz"
"""The weights that say how likely the later statement asks for what the earlier one tells to be forgotten."""


class CrossEncoder:
    """all-MiniLM-L6-v2, adapted, with a regression on what it makes of both statements of a pair: `ENDINGS` or
    `FORGETTING`.

    The weights are small changes of the installed model's matrices (LoRA: Hu et al., "LoRA: Low-Rank Adaptation of
    Large Language Models", 2021) and new biases, each with its place in the model's file, whose digest is pinned.
    Safe to call from many threads; it is loaded with the first pair, which takes a quarter of a second and 130 MB.
    """

    def __init__(self, weights: str) -> None:
        self._weights = weights
        self._cores = Semaphore(os.cpu_count() or 1)
        self._loading = Lock()
        self._loaded: _Adapted | None = None

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return how likely what the weights say is so of each pair (earlier, later), 0 to 1."""
        if not pairs:
            return []
        with self._loading:
            if self._loaded is None:
                self._loaded = _Adapted(self._weights)
        with self._cores:
            return self._loaded.chances(pairs)


class _Adapted:
    """The loaded model."""

    def __init__(self, weights_file: str) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer_content())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        with (files(__package__) / weights_file).open("rb") as file, np.load(file, allow_pickle=False) as saved:
            weights: dict[str, NDArray[Any]] = dict(saved)
        self._head: Floats = weights["head"]
        self._bias = float(weights["head_bias"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        content = bytes(adapted(bytearray(model_content()), weights))
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the chances of pairs, all read in one pass."""
        read = self._tokenizer.encode_batch(list(pairs))
        ids = np.zeros((len(read), max(len(pair.ids) for pair in read)), dtype=np.int64)
        is_read, is_later = np.zeros_like(ids), np.zeros_like(ids)
        for row, pair in enumerate(read):
            ids[row, : len(pair.ids)] = pair.ids
            is_read[row, : len(pair.ids)] = 1
            is_later[row, : len(pair.ids)] = pair.type_ids
        inputs = {"input_ids": ids, "attention_mask": is_read, "token_type_ids": is_later}
        (made,) = self._session.run(None, inputs)
        earlier, later = _mean(made, is_read * (1 - is_later)), _mean(made, is_read * is_later)
        both = np.concatenate([earlier, later, earlier * later, np.abs(earlier - later)], axis=1)
        chances: list[float] = (1.0 / (1.0 + np.exp(-(both @ self._head + self._bias)))).tolist()
        return chances


def adapted(content: bytearray, weights: dict[str, NDArray[Any]]) -> bytearray:
    """Return a model's file with the changed weights in their places.

    Its matrices are kept in eight bits with a scale a column; so are the changed ones.
    """
    for number, (offset, scale_place, rows, columns) in enumerate(weights["matrices"].tolist()):
        kept = np.frombuffer(content, np.int8, rows * columns, offset).reshape(rows, columns)
        scale = np.frombuffer(content, np.float32, columns, scale_place)
        change = _in_full(weights, f"down_{number}") @ _in_full(weights, f"up_{number}")
        matrix = kept * scale + change
        new_scale = np.abs(matrix).max(axis=0) / np.float32(127)
        content[offset : offset + rows * columns] = np.round(matrix / new_scale).astype(np.int8).tobytes()
        content[scale_place : scale_place + 4 * columns] = new_scale.astype(np.float32).tobytes()
    start = 0
    for offset, size in weights["vectors_at"].tolist():
        vector = weights["vectors"][start : start + size].astype(np.float32)
        content[offset : offset + 4 * size] = vector.tobytes()
        start += size
    return content


def _in_full(weights: dict[str, NDArray[Any]], name: str) -> Floats:
    full: Floats = weights[name].astype(np.float32) * weights[f"{name}_scale"]
    return full


def _mean(vectors: Floats, counts: NDArray[np.int64]) -> Floats:
    share = counts / counts.sum(axis=1, keepdims=True)
    mean: Floats = np.einsum("pth,pt->ph", vectors, share.astype(np.float32))
    return mean
