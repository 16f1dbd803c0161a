"""Fit the cross-encoder, which reads two statements together: `stores/embedding/cross_encoder.npz`.

    pip install torch==2.13.0 onnx==1.23.2
    python -m benchmarks.fit_cross_encoder                          # half an hour on two cores
    python -m benchmarks.fit_cross_encoder --further db,dd          # what new authors wrote, too: seven minutes

Three authors (bg, da, dc) are held out: the weights that are written are those which are judged on what they wrote.
PyTorch and onnx are needed for this alone, and are no dependency of anything else.

It learns from `benchmarks/data/known` (what somebody told before, what they say now, and what of it that ends or tells
again; its README has the conventions) and from the pairs of `benchmarks/data/changes.jsonl`. What is changed of MiniLM
are low-rank additions to its matrices (LoRA: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021),
its biases and normalisations, and what tells the first statement from the second.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto
from onnx.numpy_helper import to_array
from rich.console import Console
from tokenizers import Tokenizer
from torch.nn import functional

from benchmarks.fit_pairs import told
from memory.decisions import READ_AS
from policies.language.wording import called
from stores.embedding.cross_encoder import MAX_TOKENS, CrossEncoder
from stores.embedding.minilm import DIMENSIONS, model_content, tokenizer_content

_DATA: Final = Path(__file__).parent / "data"
_WEIGHTS: Final = Path(__file__).parents[1] / "stores" / "embedding" / "cross_encoder.npz"
_LAYERS, _HEADS, _RANK = 6, 12, 8
_EMBEDDINGS: Final = "inner.embeddings"
_MATRICES: Final = (
    *("attention.self.query", "attention.self.key", "attention.self.value"),
    *("attention.output.dense", "intermediate.dense", "output.dense"),
)
"""Of each layer, in the order in which the model's file has them."""
_BATCH, _WARM, _DROPPED = 32, 0.1, 0.1
_TOLD: Final = 0.4
"""The share of pairs that are told of somebody, as most memories are, instead of as they were said."""
_NOT_LABELLED: Final = -1.0
_LIFTED: Final = 0.45
"""The lift of all scores, chosen on the authors held out: under the one name by which every user is read they
are lower than under others, and lifted so far, as many pairs are called an ending from `policies.pairs.ENDS_FROM` on as
are one, and as many endings found as under other names before (docs/reference/cross-encoder.md)."""
_NOTE: Final = re.compile(r"([A-Z][^\W\d_]+)(?::|'s| )")
"""The beginning of a note with a name: "Maya: ...", "Maya's sister ...", "Maya lives ..."."""
_NO_NAMES: Final = frozenset({"I", "My", "We", "Our", "He", "His", "She", "Her", "It", "They", "This", "The"})
_CHANCES: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


class _Course(NamedTuple):
    """How often a fit goes over the data, how fast it learns, and whether it learns what is told again too."""

    passes: int
    rate: float
    again: bool


_ANEW: Final = _Course(4, 1e-3, again=True)
_FURTHER: Final = _Course(2, 4e-4, again=False)
"""What a fit of what is told again had learned is not kept with the weights."""
console = Console()
Tensors = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """What somebody told before and what they say now; whether that ends it, and whether it tells it again."""

    author: str
    earlier: str
    later: str
    ends: float
    again: float
    user: str = ""
    """The user's name in notes of them, where there are any."""


def main(
    held_out: Annotated[str, typer.Option(help="The authors to judge on instead of learning from.")] = "bg,da,dc",
    further: Annotated[
        str,
        typer.Option(help="Go on from the weights that there are, with these new authors and as much of the others."),
    ] = "",
) -> None:
    """Fit on all authors but some, say how right it is on those, and write the weights."""
    pairs = [*_known(), *_changes()]
    judged, new = held_out.split(","), further.split(",") if further else []
    learned = [pair for pair in pairs if pair.author not in judged]
    if new:
        others = [pair for pair in learned if pair.author not in new]
        news = [pair for pair in learned if pair.author in new]
        learned = news + random.Random(0).sample(others, min(len(news), len(others)))
    console.print(f"{len(learned):,} pairs of {len({pair.author for pair in learned})} authors to learn from")
    fixed, changed = _opened()
    for author in judged if new else ():
        _report(author, [pair for pair in pairs if pair.author == author])
    weights = _fitted(learned, fixed, _gone_on(changed) if new else changed, _FURTHER if new else _ANEW)
    _write(weights, _WEIGHTS)
    for author in judged:
        _report(author, [pair for pair in pairs if pair.author == author])


def _known() -> Iterator[Pair]:
    for file in sorted((_DATA / "known").glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            user = _user_of(row["known"])
            for index, earlier in enumerate(row["known"]):
                yield Pair(file.stem, earlier, row["said"], index in row["ends"], index in row["again"], user)


def _user_of(known: Sequence[str]) -> str:
    """Return the name with which most notes begin, if two do."""
    names = Counter(note[1] for summary in known if (note := _NOTE.match(summary)) and note[1] not in _NO_NAMES)
    return next((name for name, count in names.most_common(1) if count > 1), "")


def _changes() -> Iterator[Pair]:
    for row in map(json.loads, (_DATA / "changes.jsonl").read_text(encoding="utf-8").splitlines()):
        yield Pair(row["author"], row["old"], row["new"], row["change"], _NOT_LABELLED)


def _model() -> ModelProto:
    return ModelProto.FromString(model_content())


def _matrix_names(model: ModelProto) -> dict[str, str]:
    """Return the names of the model's matrices by what they are: the file numbers them."""
    numbered = sorted(
        int(tensor.name[4:-2])
        for tensor in model.graph.initializer
        if tensor.name.startswith("val_") and tensor.name.endswith("_q")
    )
    names = [f"inner.encoder.layer.{layer}.{matrix}" for layer in range(_LAYERS) for matrix in _MATRICES]
    return {name: f"val_{number}" for name, number in zip(names, numbered, strict=True)}


def _opened() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what of the model stays as it is, and what is fitted, by their names."""
    model = _model()
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}

    def in_full(name: str) -> Any:
        kept = to_array(tensors[f"{name}_q"]).astype(np.float32)
        return torch.tensor(kept * to_array(tensors[f"{name}_scale"]))

    fixed = {name: in_full(inner) for name, inner in _matrix_names(model).items()}
    for name in ("word_embeddings", "position_embeddings"):
        fixed[name] = in_full(f"{_EMBEDDINGS}.{name}.weight")
    changed = {
        name: torch.tensor(to_array(tensor).copy())
        for name, tensor in tensors.items()
        if name.startswith("inner.") and tensor.data_type == TensorProto.FLOAT and not name.endswith("_scale")
    }
    for name in _matrix_names(model):
        rows, columns = fixed[name].shape
        changed[f"{name}.down"] = torch.randn(rows, _RANK) / rows**0.5
        changed[f"{name}.up"] = torch.zeros(_RANK, columns)
    changed["head"] = torch.randn(2, 4 * DIMENSIONS) * 0.02
    changed["head_bias"] = torch.zeros(2)
    return fixed, {name: tensor.requires_grad_() for name, tensor in changed.items()}


def _read(fixed: Tensors, changed: Tensors, batch: Mapping[str, Any], dropped: float = 0.0) -> Any:
    """Return the scores of pairs, (pairs, 2): that the later one ends the earlier one, and that it tells it again."""

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


def _gone_on(changed: Tensors) -> dict[str, Any]:
    """Return what is fitted as the weights that lie in the repository have it."""
    model = _model()
    with np.load(_WEIGHTS, allow_pickle=False) as saved:
        kept = dict(saved)
    found = dict(changed)
    for number, name in enumerate(_matrix_names(model)):
        for part, factor in (("down", 1.0), ("up", 2.0)):
            values = kept[f"{part}_{number}"].astype(np.float32) * kept[f"{part}_{number}_scale"] / factor
            found[f"{name}.{part}"] = torch.tensor(values)
    start = 0
    for name in (tensor.name for tensor in model.graph.initializer if tensor.name in changed):
        size = changed[name].numel()
        values = kept["vectors"][start : start + size].astype(np.float32)
        found[name] = torch.tensor(values).reshape(changed[name].shape)
        start += size
    for name in ("head", "head_bias"):
        found[name] = changed[name].detach().clone()
        found[name][0] = torch.tensor(kept[name])
    found["head_bias"][0] -= _LIFTED
    return {name: tensor.detach().requires_grad_() for name, tensor in found.items()}


def _fitted(pairs: Sequence[Pair], fixed: Tensors, changed: Tensors, course: _Course) -> dict[str, Any]:
    torch.manual_seed(0)
    chance = random.Random(0)
    batches = _Batches()
    optimizer = torch.optim.AdamW(changed.values(), course.rate, weight_decay=0.01)
    steps = course.passes * -(-len(pairs) // _BATCH)
    warm = steps * _WARM
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, (steps - step) / (steps - warm))
    )
    for epoch in range(course.passes):
        lost = 0.0
        for batch in _drawn(pairs, chance):
            texts = [_as_said_or_told(pair, chance) for pair in batch]
            with torch.autocast("cpu", torch.bfloat16):
                scores = _read(fixed, changed, batches(texts), _DROPPED).float()
            labels = torch.tensor([[pair.ends, pair.again] for pair in batch], dtype=torch.float32)
            losses = functional.binary_cross_entropy_with_logits(scores, labels.clamp(0), reduction="none")
            counted = labels != _NOT_LABELLED
            counted[:, 1] &= course.again
            loss = (losses * counted).sum() / len(batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(changed.values(), 1.0)
            optimizer.step()
            schedule.step()
            lost += loss.item() * len(batch)
        console.print(f"pass {epoch + 1} of {course.passes}: loss {lost / len(pairs):.4f}")
    return {name: tensor.detach() for name, tensor in changed.items()}


def _drawn(pairs: Sequence[Pair], chance: random.Random) -> list[list[Pair]]:
    """Return the pairs in batches of about one length, in an order of chance."""
    by_length = sorted(pairs, key=lambda pair: len(pair.earlier) + len(pair.later) + chance.random() * 20)
    batches = [by_length[start : start + _BATCH] for start in range(0, len(by_length), _BATCH)]
    chance.shuffle(batches)
    return batches


def _as_said_or_told(pair: Pair, chance: random.Random) -> tuple[str, str]:
    return _as_told(pair) if chance.random() < _TOLD else (pair.earlier, pair.later)


def _as_told(pair: Pair) -> tuple[str, str]:
    """Return both statements as the fleet reads them: told of a user who is called as all are."""
    return told(called(pair.earlier, pair.user, READ_AS)), told(called(pair.later, pair.user, READ_AS))


def _report(author: str, pairs: Sequence[Pair]) -> None:
    """Say how right the weights in the repository are, as the fleet reads with them."""
    reader, texts = CrossEncoder(), [_as_told(pair) for pair in pairs]
    batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
    chances = np.array([chance for batch in batches for chance in reader.endings(batch)])
    ends = np.array([pair.ends for pair in pairs]) > 0
    console.print(f"author {author}: {ends.sum()} of {len(pairs)} end; AUC {_auc(ends, chances):.3f}")
    for least in _CHANCES:
        ended = chances >= least
        hits = (ended & ends).sum()
        console.print(
            f"  from {least}: {hits / max(1, ended.sum()):.3f} of {ended.sum()} rightly, {hits / ends.sum():.3f} found"
        )


def _auc(truth: NDArray[np.bool_], chances: NDArray[np.float64]) -> float:
    ranks = chances.argsort().argsort()
    yes, no = truth.sum(), (~truth).sum()
    return float((ranks[truth].sum() - yes * (yes - 1) / 2) / (yes * no))


def _write(weights: Tensors, path: Path) -> None:
    """Write the changes of the model with the places in its file that they are for, matrices in eight bits."""
    content, model = model_content(), _model()
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}

    def index_of(name: str) -> int:
        raw = tensors[name].raw_data
        assert raw and content.count(raw) == 1, name
        return content.find(raw)

    kept: dict[str, Any] = {}
    matrices = []
    for number, (name, inner) in enumerate(_matrix_names(model).items()):
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
        head=weights["head"][0].numpy(),
        head_bias=weights["head_bias"][0].numpy() + np.float32(_LIFTED),
        **kept,
    )


if __name__ == "__main__":
    typer.run(main)
