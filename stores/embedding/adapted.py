"""MiniLM adapted to read two texts at once, by small changes of its matrices.

The weights are changes of the installed model's matrices (LoRA: Hu et al., "LoRA: Low-Rank Adaptation of Large Language
Models", 2021) and new biases, each with its place in the model's file, whose digest is pinned, and a linear answer to
each question that they were fitted for (`benchmarks/lora.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from threading import Lock, Semaphore
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from schema.packaged_arrays import packaged_arrays
from stores.embedding.minilm import model_content, tokenizer_content

Floats = NDArray[np.float32]
MAX_TOKENS: Final = 96
"""Tokens that are read of both texts together."""
_FILLED: Final = 0.8
_TOGETHER: Final = 32
"""Pairs in one pass: more are no faster, and want more memory."""


class AdaptedMiniLM:
    """all-MiniLM-L6-v2 with the changes of a file of weights.

    Safe to call from many threads; it is loaded with the first pair, which takes a quarter of a second and 130 MB.
    """

    def __init__(self, weights_file: str) -> None:
        self._weights_file = weights_file
        self._cores = Semaphore(os.cpu_count() or 1)
        self._loading = Lock()
        self._loaded: _Loaded | None = None

    @property
    def questions(self) -> tuple[str, ...]:
        """Return the names of the questions that it answers, in their order."""
        return self._load().questions

    def chances(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return how likely the answer to each question is yes, 0 to 1: a row for each pair of texts."""
        loaded = self._load()
        if not pairs:
            return np.zeros((0, len(loaded.questions)), np.float32)
        with self._cores:
            return loaded.chances(pairs)

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                self._loaded = _Loaded(self._weights_file)
            return self._loaded


class _Loaded:
    def __init__(self, weights_file: str) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer_content())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        weights = packaged_arrays("stores.embedding", weights_file)
        self._head: Floats = np.atleast_2d(weights["head"]).astype(np.float32).T
        self._bias: Floats = np.atleast_1d(weights["head_bias"]).astype(np.float32)
        self.questions = tuple(map(str, weights.get("questions", [""] * len(self._bias))))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        content = bytes(adapted(bytearray(model_content()), weights))
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def chances(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the chances of pairs, those of about one length read in one pass."""
        read = self._tokenizer.encode_batch(list(pairs))
        chances = np.empty((len(read), len(self.questions)), np.float32)
        for rows in of_about_one_length([len(pair.ids) for pair in read]):
            chances[rows] = self._pass([read[row] for row in rows])
        return chances

    def _pass(self, read: Sequence[Encoding]) -> Floats:
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
        chances: Floats = 1.0 / (1.0 + np.exp(-(both @ self._head + self._bias)))
        return chances


def of_about_one_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts in groups whose shortest fills most of the longest's room: what is padded is read,
    too, and a batch of sentences, padded to its longest, was nearly three times what it holds (200 turns of talk)."""
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and (lengths[group[0]] < _FILLED * lengths[place] or len(group) == _TOGETHER):
            yield group
            group = []
        group.append(place)
    if group:
        yield group


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
