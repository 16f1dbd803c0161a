"""The encoder of the English parser's components as one function, in the place of some sixty layers.

spaCy's small models turn the words of a text into vectors by hashed embeddings and four windowed layers. For a sentence
each of these has a dozen rows to work on, so that calling them from Python is much of what they cost: 1.2 ms CPU a
sentence by itself, of which this leaves .7 (`language.parse` runs two of them). The same operations are done in the
same order on the same numbers: the vectors are equal bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_EPSILON: Final = 1e-8
"""The number that thinc's layer norm adds to a variance."""
_LAYERS: Final = frozenset(
    {
        *("extract_features", "list2ragged", "ints-getitem", "hashembed", "ragged2list"),
        *("maxout", "layernorm", "dropout", "expand_window"),
    }
)
"""The names of all layers that have none within: of an encoder with any other something would be left out."""


@dataclass(frozen=True)
class _Maxout:
    """A dense layer of which the best of some pieces counts, and the norm behind it."""

    ops: Any
    weights: Floats
    bias: Floats
    pieces: int
    scale: Floats
    shift: Floats

    def __call__(self, rows: Floats) -> Floats:
        dense = self.ops.gemm(rows, self.weights, trans2=True)
        dense += self.bias
        best, _ = self.ops.maxout(dense.reshape(len(rows), -1, self.pieces))
        width = np.float32(best.shape[1])
        apart = best - np.add.reduce(best, axis=1, keepdims=True) / width
        variance = np.add.reduce(apart * apart, axis=1, keepdims=True) / width + _EPSILON
        apart *= variance ** (-1.0 / 2.0)
        apart *= self.scale
        apart += self.shift
        result: Floats = apart
        return result


def fuse(tok2vec: Any) -> None:
    """Have a trained `Tok2Vec` model of spaCy predict by one function. One of another build stays as it is."""
    predict = _fused(tok2vec)
    if predict is None:
        return
    layers = tok2vec._func

    def forward(model: Any, docs: Any, is_train: bool) -> Any:
        if is_train or not any(map(len, docs)):
            return layers(model, docs, is_train)
        return predict(docs), _no_training

    tok2vec._func = forward


def _no_training(_: Any) -> Any:
    raise RuntimeError("the fused model only predicts: train the model of spaCy, before `fuse`")


def _fused(tok2vec: Any) -> Callable[[Any], list[Floats]] | None:
    """Return what predicts the vectors of documents, None for a model of other layers than these."""
    if [layer.name.partition("(")[0] for layer in tok2vec.layers[1:]] != ["with_array"]:
        return None
    by_name: dict[str, list[Any]] = {}
    for layer in tok2vec.walk():
        if not layer.layers:
            by_name.setdefault(layer.name, []).append(layer)
    maxouts = list(_maxouts(by_name))
    windows = [layer.attrs["window_size"] for layer in by_name.get("expand_window", [])]
    if by_name.keys() != _LAYERS or len(maxouts) != len(windows) + 1 or set(windows) != {1}:
        return None
    ops, pad = tok2vec.ops, tok2vec.layers[1].attrs["pad"]
    [extract] = by_name["extract_features"]
    columns = extract.attrs["columns"]
    tables = [(layer.attrs["column"], layer.attrs["seed"], layer.get_param("E")) for layer in by_name["hashembed"]]
    mix, *encode = maxouts

    def predict(docs: Any) -> list[Floats]:
        lengths = np.array([len(doc) for doc in docs], dtype="i")
        ids = np.concatenate([doc.to_array(columns).reshape(len(doc), len(columns)) for doc in docs])
        embedded = [
            ops.gather_add(table, ops.hash(np.ascontiguousarray(ids[:, column], dtype="uint64"), seed) % len(table))
            for column, seed, table in tables
        ]
        rows = ops.flatten(ops.unflatten(mix(np.hstack(embedded)), lengths), pad=pad)
        for layer in encode:
            rows = rows + layer(ops.seq2col(rows, 1))
        vectors: list[Floats] = ops.unflatten(rows, lengths, pad=pad)
        return vectors

    return predict


def _maxouts(by_name: dict[str, list[Any]]) -> Iterator[_Maxout]:
    for dense, norm in zip(by_name.get("maxout", []), by_name.get("layernorm", []), strict=False):
        pieces, width = dense.get_dim("nP"), dense.get_dim("nO")
        weights = dense.get_param("W").reshape(width * pieces, dense.get_dim("nI"))
        bias = dense.get_param("b").reshape(width * pieces)
        yield _Maxout(dense.ops, weights, bias, pieces, norm.get_param("G"), norm.get_param("b"))
