"""Talk that asks a memory for nothing (`benchmarks/data/talk`, its README has the conventions), beside what its speaker
told before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stores.embedding.minilm import MiniLM

_DATA: Final = Path(__file__).parent / "data" / "talk"
HELD_OUT: Final = "tc"
"""The author of whom nothing is learned."""
_NEAREST: Final = 2
"""Things known, the nearest ones, that a message is read beside."""


@dataclass(frozen=True)
class TalkPair:
    """What somebody told before, and what they say later in talk; whether that ends it."""

    author: str
    earlier: str
    later: str
    user: str
    ends: bool = False


def talk_pairs(nearest: int = _NEAREST) -> Iterator[TalkPair]:
    """Yield each message beside the `nearest` known things and those that it ends; and of its sentences the one nearest
    to what was said before beside that, and the one nearest to a known thing beside that; where more than two nearest
    things are asked for, each message beside as many more sentences that were said before."""
    embedder = MiniLM()
    for file in sorted(_DATA.glob("*.jsonl")):
        for user, known, messages in _by_user(file):
            yield from _of_user(file.stem, user, known, messages, embedder, nearest)


def said_in_talk(author: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield what is said in talk, each sentence and each message once, with its author before it; of one author alone
    if one is named, else of all from whom may be learned."""
    for file in sorted(_DATA.glob("*.jsonl")):
        if file.stem == (author or file.stem) and (author or file.stem != HELD_OUT):
            for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
                sentences = row.get("said", ())
                yield from ((file.stem, text) for text in dict.fromkeys((*sentences, " ".join(sentences))) if text)


def _by_user(file: Path) -> Iterator[tuple[str, list[str], list[dict[str, Any]]]]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if "known" in row:
            yield row["user"], row["known"], [one for one in rows if one["user"] == row["user"] and "said" in one]


def _of_user(
    author: str, user: str, known: list[str], messages: list[dict[str, Any]], embedder: MiniLM, nearest: int
) -> Iterator[TalkPair]:
    known_vectors = _embedded(known, embedder)
    told: list[str] = []
    told_vectors = np.empty((0, known_vectors.shape[1]), np.float32)
    for message in messages:
        sentences, whole = message["said"], " ".join(message["said"])
        ends, left_open = set(message.get("ends", ())), set(message.get("perhaps", ()))
        [vector] = _embedded([whole], embedder)
        near = np.argsort(-known_vectors @ vector)[:nearest].tolist()
        for index in sorted({*near, *ends} - left_open):
            yield TalkPair(author, known[index], whole, user, index in ends)
        for index in np.argsort(-told_vectors @ vector)[: nearest - _NEAREST]:
            yield TalkPair(author, told[index], whole, user)
        vectors = _embedded(sentences, embedder)
        if told:
            cosines = vectors @ told_vectors.T
            mine, other = np.unravel_index(int(cosines.argmax()), cosines.shape)
            yield TalkPair(author, told[other], sentences[mine], user)
        cosines = vectors @ known_vectors.T
        mine, index = np.unravel_index(int(cosines.argmax()), cosines.shape)
        if not {int(index)} & (ends | left_open):
            yield TalkPair(author, known[index], sentences[mine], user)
        told += sentences
        told_vectors = np.concatenate([told_vectors, vectors])


def _embedded(texts: list[str], embedder: MiniLM) -> NDArray[np.float32]:
    return np.array(embedder.embed(texts), dtype=np.float32)
