"""MiniLM adapted to read two texts together: fitted with PyTorch, written for `stores.embedding.cross_encoder`.

    pip install torch==2.13.0 onnx==1.23.2

PyTorch and onnx are needed for fitting alone, and are no dependency of anything else. What is changed of MiniLM are
low-rank additions to its matrices (LoRA: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021), its
biases and normalisations, and what tells the first text from the second.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto
from onnx.numpy_helper import to_array
from rich.console import Console
from tokenizers import Tokenizer
from torch.nn import functional

from stores.embedding.adapted import MAX_TOKENS
from stores.embedding.minilm import DIMENSIONS, model_content, tokenizer_content

NOT_LABELLED: Final = -1.0
_LAYERS, _HEADS, _RANK = 6, 12, 8
_EMBEDDINGS: Final = "inner.embeddings"
_MATRICES: Final = (
    *("attention.self.query", "attention.self.key", "attention.self.value"),
    *("attention.output.dense", "intermediate.dense", "output.dense"),
)
"""Of each layer, in the order in which the model's file has them."""
_BATCH, _WARM, _DROPPED = 32, 0.1, 0.1
console = Console()
Tensors = Mapping[str, Any]


class Example(NamedTuple):
    """Two texts that are read together, and what is to be said of them: 0 or 1 a question, or `NOT_LABELLED`."""

    first: str
    second: str
    labels: tuple[float, ...]


class Course(NamedTuple):
    """How often a fit goes over the data, and how fast it learns."""

    passes: int
    rate: float


def model() -> ModelProto:
    return ModelProto.FromString(model_content())


def matrix_names() -> dict[str, str]:
    """Return the names of the model's matrices by what they are: the file numbers them."""
    numbered = sorted(
        int(tensor.name[4:-2])
        for tensor in model().graph.initializer
        if tensor.name.startswith("val_") and tensor.name.endswith("_q")
    )
    names = [f"inner.encoder.layer.{layer}.{matrix}" for layer in range(_LAYERS) for matrix in _MATRICES]
    return {name: f"val_{number}" for name, number in zip(names, numbered, strict=True)}


def opened(questions: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what of the model stays as it is, and what is fitted, by their names, to answer so many questions."""
    tensors = {tensor.name: tensor for tensor in model().graph.initializer}

    def in_full(name: str) -> Any:
        kept = to_array(tensors[f"{name}_q"]).astype(np.float32)
        return torch.tensor(kept * to_array(tensors[f"{name}_scale"]))

    fixed = {name: in_full(inner) for name, inner in matrix_names().items()}
    for name in ("word_embeddings", "position_embeddings"):
        fixed[name] = in_full(f"{_EMBEDDINGS}.{name}.weight")
    changed = {
        name: torch.tensor(to_array(tensor).copy())
        for name, tensor in tensors.items()
        if name.startswith("inner.") and tensor.data_type == TensorProto.FLOAT and not name.endswith("_scale")
    }
    for name in matrix_names():
        rows, columns = fixed[name].shape
        changed[f"{name}.down"] = torch.randn(rows, _RANK) / rows**0.5
        changed[f"{name}.up"] = torch.zeros(_RANK, columns)
    changed["head"] = torch.randn(questions, 4 * DIMENSIONS) * 0.02
    changed["head_bias"] = torch.zeros(questions)
    return fixed, {name: tensor.requires_grad_() for name, tensor in changed.items()}


def _read(fixed: Tensors, changed: Tensors, batch: Mapping[str, Any], dropped: float = 0.0) -> Any:
    """Return the scores of pairs, (pairs, questions)."""

    def normal(name: str, given: Any) -> Any:
        return functional.layer_norm(given, (DIMENSIONS,), changed[f"{name}.weight"], changed[f"{name}.bias"], 1e-12)

    def through(name: str, given: Any) -> Any:
        added = (given @ changed[f"{name}.down"]) @ changed[f"{name}.up"] * 2.0
        return given @ fixed[name] + changed[f"{name}.bias"] + added

    def thinned(given: Any) -> Any:
        return functional.dropout(given, dropped, training=dropped > 0)

    ids, is_read, is_later = batch["ids"], batch["attention_mask"], batch["type_ids"]
    count, length = ids.shape
    embedded = fixed["word_embeddings"][ids] + changed[f"{_EMBEDDINGS}.token_type_embeddings.weight"][is_later]
    state = thinned(normal(f"{_EMBEDDINGS}.LayerNorm", embedded + fixed["position_embeddings"][:length]))
    mask = is_read[:, None, None, :].bool()
    for layer in range(_LAYERS):
        at = f"inner.encoder.layer.{layer}"
        split = [
            through(f"{at}.attention.self.{part}", state).view(count, length, _HEADS, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        ]
        heard = functional.scaled_dot_product_attention(*split, attn_mask=mask, dropout_p=dropped)
        heard = through(f"{at}.attention.output.dense", heard.transpose(1, 2).reshape(count, length, DIMENSIONS))
        state = normal(f"{at}.attention.output.LayerNorm", state + thinned(heard))
        thought = through(f"{at}.output.dense", functional.gelu(through(f"{at}.intermediate.dense", state)))
        state = normal(f"{at}.output.LayerNorm", state + thinned(thought))

    def mean(counted: Any) -> Any:
        return (state * counted[..., None]).sum(1) / counted.sum(1, keepdim=True)

    earlier, later = mean(is_read * (1 - is_later)), mean(is_read * is_later)
    both = torch.cat([earlier, later, earlier * later, (earlier - later).abs()], 1)
    return thinned(both) @ changed["head"].T + changed["head_bias"]


def gone_on(changed: Tensors, weights: Path, lifted: float = 0.0, questions: Sequence[str] = ("",)) -> dict[str, Any]:
    """Return what is fitted as weights that were written have it, with the answers to those of the `questions` that
    they know, whose scores were lifted by `lifted`."""
    with np.load(weights, allow_pickle=False) as saved:
        kept = dict(saved)
    found = dict(changed)
    for number, name in enumerate(matrix_names()):
        for part, factor in (("down", 1.0), ("up", 2.0)):
            values = kept[f"{part}_{number}"].astype(np.float32) * kept[f"{part}_{number}_scale"] / factor
            found[f"{name}.{part}"] = torch.tensor(values)
    start = 0
    for name in (tensor.name for tensor in model().graph.initializer if tensor.name in changed):
        size = changed[name].numel()
        values = kept["vectors"][start : start + size].astype(np.float32)
        found[name] = torch.tensor(values).reshape(changed[name].shape)
        start += size
    known = [str(question) for question in kept["questions"]] if len(questions) > 1 else [""]
    for name in ("head", "head_bias"):
        found[name] = changed[name].detach().clone()
        answers = np.asarray(kept[name], np.float32).reshape(len(known), *found[name].shape[1:])
        for number, question in enumerate(questions):
            if question in known:
                found[name][number] = torch.tensor(answers[known.index(question)])
    found["head_bias"][0] -= lifted
    return {name: tensor.detach().requires_grad_() for name, tensor in found.items()}


class _Batches:
    """Pairs as the model reads them."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer_content())
        self._tokenizer.enable_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def __call__(self, texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
        read = self._tokenizer.encode_batch(list(texts))
        return {
            name: torch.tensor([getattr(encoding, name) for encoding in read])
            for name in ("ids", "attention_mask", "type_ids")
        }


def fitted(
    examples: Callable[[random.Random], Sequence[Example]], fixed: Tensors, changed: Tensors, course: Course
) -> dict[str, Any]:
    """Return what was fitted, by name. `examples` are asked for before each pass, for one text may be read in several
    forms; there are as many each time."""
    torch.manual_seed(0)
    chance = random.Random(0)
    batches = _Batches()
    optimizer = torch.optim.AdamW(changed.values(), course.rate, weight_decay=0.01)
    steps = course.passes * -(-len(examples(random.Random(0))) // _BATCH)
    warm = steps * _WARM
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, (steps - step) / (steps - warm))
    )
    for epoch in range(course.passes):
        lost, count = 0.0, 0
        for batch in _drawn(examples(chance), chance):
            with torch.autocast("cpu", torch.bfloat16):
                read = batches([(example.first, example.second) for example in batch])
                scores = _read(fixed, changed, read, _DROPPED).float()
            labels = torch.tensor([example.labels for example in batch], dtype=torch.float32)
            losses = functional.binary_cross_entropy_with_logits(scores, labels.clamp(0), reduction="none")
            loss = (losses * (labels != NOT_LABELLED)).sum() / len(batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(changed.values(), 1.0)
            optimizer.step()
            schedule.step()
            lost, count = lost + loss.item() * len(batch), count + len(batch)
        console.print(f"pass {epoch + 1} of {course.passes}: loss {lost / count:.4f}")
    return {name: tensor.detach() for name, tensor in changed.items()}


def scores(fixed: Tensors, weights: Tensors, texts: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """Return what fitted weights say of pairs of texts, (pairs, questions): from 0 on rather yes."""
    batches, read = _Batches(), []
    for start in range(0, len(texts), _BATCH):
        with torch.no_grad():
            read.append(_read(fixed, weights, batches(texts[start : start + _BATCH])).float().numpy())
    return np.concatenate(read)


def _drawn(examples: Sequence[Example], chance: random.Random) -> list[list[Example]]:
    """Return the examples in batches of about one length, in an order of chance."""
    by_length = sorted(examples, key=lambda one: len(one.first) + len(one.second) + chance.random() * 20)
    batches = [by_length[start : start + _BATCH] for start in range(0, len(by_length), _BATCH)]
    chance.shuffle(batches)
    return batches


def report(author: str, truth: Sequence[bool], chances: Sequence[float], levels: Sequence[float]) -> None:
    """Say how right chances are of what an author wrote: the area under the curve, and from each level on what share of
    what is found is right, and what share of what is so is found."""
    so, likely = np.array(truth), np.array(chances)
    console.print(f"author {author}: {so.sum()} of {len(so)} are so; AUC {_auc(so, likely):.3f}")
    for level in levels:
        found = likely >= level
        hits = (found & so).sum()
        console.print(
            f"  from {level}: {hits / max(1, found.sum()):.3f} of {found.sum()} rightly, {hits / so.sum():.3f} found"
        )


def _auc(truth: NDArray[np.bool_], chances: NDArray[np.float64]) -> float:
    """Return the area under the curve: how often what is so is found likelier than what is not."""
    ranks = chances.argsort().argsort()
    yes, no = truth.sum(), (~truth).sum()
    return float((ranks[truth].sum() - yes * (yes - 1) / 2) / (yes * no))


def write(weights: Tensors, path: Path, lift: float = 0.0, questions: Sequence[str] = ("",)) -> None:
    """Write the changes of the model with the places in its file that they are for, matrices in eight bits, and what
    answers the first questions, with their names, its scores lifted by `lift`."""
    content = model_content()
    tensors = {tensor.name: tensor for tensor in model().graph.initializer}

    def index_of(name: str) -> int:
        raw = tensors[name].raw_data
        assert raw and content.count(raw) == 1, name
        return content.find(raw)

    kept: dict[str, Any] = {}
    matrices = []
    for number, (name, inner) in enumerate(matrix_names().items()):
        matrices.append((index_of(f"{inner}_q"), index_of(f"{inner}_scale"), *tensors[f"{inner}_q"].dims))
        for part, factor in (("down", 1.0), ("up", 2.0)):
            values = weights[f"{name}.{part}"].numpy() * factor
            scale = np.abs(values).max() / 127
            kept[f"{part}_{number}"] = np.round(values / scale).astype(np.int8)
            kept[f"{part}_{number}_scale"] = np.float32(scale)
    vectors = {name: weights[name].numpy().ravel() for name in tensors if name in weights}
    np.savez_compressed(
        path,
        matrices=np.array(matrices),
        vectors_at=np.array([(index_of(name), vector.size) for name, vector in vectors.items()]),
        vectors=np.concatenate(list(vectors.values())).astype(np.float16),
        questions=np.array(questions),
        head=weights["head"][: len(questions)].numpy().astype(np.float16),
        head_bias=weights["head_bias"][: len(questions)].numpy() + np.float32(lift),
        **kept,
    )
