"""Fit the head of everyday topics on the labelled utterances, and on what the rules keep of them.

`benchmarks.fit_heads` calls it; three minutes, one with no author held out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from policies.admission import admit
from policies.language.languages import ENGLISH
from policies.language.life_topic_head import LIFE_TOPIC_BUCKETS, LIFE_TOPIC_VECTOR_WEIGHT, places_of
from policies.language.life_topics import LIFE_TOPICS
from schema import Candidate, Context, Message, Policy, Turn
from schema.settings import Settings, load_settings
from stores.embedding import open_embedder
from worker.extract import AdmittedTurn, open_extractor

WEIGHTS: Final = Path(__file__).parent.parent / "policies" / "language" / "data" / "life_topics.npz"
_NAMES: Final = (
    "Maya",
    "Tom",
    "Odette",
    "Priya",
    "Jonas",
    "Lakeisha",
    "Wei",
    "Bram",
    "Fatima",
    "Yusuf",
    "Kofi",
    "Zara",
)
"""What the speakers are called, in turn: a name tells of no topic."""
_WHEN: Final = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
_STRENGTH: Final = 1.0
"""Inverse of the regularisation; with .5 as right."""
_SHOWN: Final = (0.15, 0.8)
"""The chances from which a memory may be meant, and surely is (`policies/forgetting.py`)."""


@dataclass(frozen=True)
class Told:
    """An utterance and what is kept of it, whose speaker is called `name`; `topics` are its labels."""

    author: str
    said: str
    kept: str
    name: str
    topics: frozenset[str]


def told_in(folder: Path) -> list[Told]:
    """Return the utterances of a folder that have topics, with the one memory that the rules make of each; where they
    make none or several, the words themselves."""
    extractor = open_extractor(Settings(), None, Policy())
    told: list[Told] = []
    for author, text, topics in _labelled(folder):
        name = _NAMES[len(told) % len(_NAMES)]
        turn = Turn(
            turn_id=f"t{len(told)}",
            tenant_id="fit",
            user_id=f"u{len(told)}",
            conversation_id="c",
            messages=(Message(role="user", content=text, name=name),),
            occurred_at=_WHEN,
        )
        items = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
        kept = [item.summary for item in items if isinstance(item, Candidate)]
        told.append(Told(author, text, kept[0] if len(kept) == 1 else text, name, topics))
    return told


def _labelled(folder: Path) -> Iterator[tuple[str, str, frozenset[str]]]:
    for path in sorted(folder.glob("author_*.jsonl")):
        for line in path.read_text().splitlines():
            said = json.loads(line)
            if said["lang"] == ENGLISH and "topics" in said:
                unknown = set(said["topics"]) - LIFE_TOPICS.keys()
                if unknown:
                    raise ValueError(f"{path.name} has topics that life_topics.toml lacks: {sorted(unknown)}")
                yield path.stem.removeprefix("author_"), said["text"], frozenset(said["topics"])


def _features(texts: Sequence[tuple[str, str]]) -> Any:
    """Return words beside vectors of texts, each with the name of its speaker: a sparse matrix."""
    from scipy.sparse import csr_matrix, hstack, lil_matrix

    words = lil_matrix((len(texts), LIFE_TOPIC_BUCKETS))
    for row, (text, name) in enumerate(texts):
        places, weight = places_of(text, name)
        for place in places:
            words[row, place] = weight
    vectors = open_embedder(load_settings()).embed([text for text, _ in texts])
    return hstack([words.tocsr(), csr_matrix(LIFE_TOPIC_VECTOR_WEIGHT * vectors)]).tocsr()


def _model(features: Any, labels: NDArray[np.bool_]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=_STRENGTH, solver="liblinear", tol=1e-3).fit(features, labels)


@dataclass(frozen=True)
class OfTopics:
    """What the head is fitted on: features of what was said and of what is kept, and whether each is of each topic."""

    authors: NDArray[np.str_]
    said: Any
    kept: Any
    labels: dict[str, NDArray[np.bool_]]


def of_topics(folder: Path) -> OfTopics:
    """Return what the head is fitted on."""
    told = told_in(folder)
    return OfTopics(
        authors=np.array([one.author for one in told]),
        said=_features([(one.said, one.name) for one in told]),
        kept=_features([(one.kept, one.name) for one in told]),
        labels={topic: np.array([topic in one.topics for one in told]) for topic in LIFE_TOPICS},
    )


def held_out_of_topics(data: OfTopics) -> None:
    """Print, of what is kept of each author's words when fitted on the others: the mean of the shares found and rightly
    left, from even chances on; and how much is found, and how much of that is right, from each chance in use."""
    from scipy.sparse import vstack
    from sklearn.metrics import roc_auc_score

    print("topic         n   AUC  balanced  found, right from .15  from .8")
    for topic, truth in data.labels.items():
        chances = np.zeros(len(truth))
        for author in np.unique(data.authors):
            rest, mine = data.authors != author, data.authors == author
            model = _model(vstack([data.said[rest], data.kept[rest]]), np.concatenate([truth[rest], truth[rest]]))
            chances[mine] = model.predict_proba(data.kept[mine])[:, 1]
        base = truth.mean()
        balanced = ((chances[truth] >= base).mean() + (chances[~truth] < base).mean()) / 2
        shares = "  ".join(
            f"{(chances[truth] >= least).mean():.2f} {truth[chances >= least].mean():.2f}" for least in _SHOWN
        )
        print(f"{topic:12}{truth.sum():4}  {roc_auc_score(truth, chances):.3f}  {balanced:.3f}  {shares}", flush=True)


def write_topics(data: OfTopics, path: Path = WEIGHTS) -> None:
    """Write the weights, fitted on all authors, in eight bits each with a scale a topic."""
    from scipy.sparse import vstack

    features = vstack([data.said, data.kept])
    models = [_model(features, np.concatenate([truth, truth])) for truth in data.labels.values()]
    every = np.stack([model.coef_[0] for model in models], axis=1)
    arrays: dict[str, Any] = {"labels": np.array(list(data.labels))}
    for part, weights in zip(("words", "vector"), np.split(every, [LIFE_TOPIC_BUCKETS]), strict=True):
        scale = np.abs(weights).max(axis=0) / 127
        arrays |= {part: np.round(weights / scale).astype(np.int8), f"{part}_scale": scale.astype(np.float32)}
    arrays["bias"] = np.array([model.intercept_[0] for model in models], dtype=np.float32)
    np.savez_compressed(path, **arrays)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {len(models)} topics")
