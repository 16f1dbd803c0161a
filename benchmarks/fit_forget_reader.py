"""Fit what reads a message beside what is known: how likely it asks for that to be forgotten
(`stores/embedding/forget_reader.npz`).

    pip install torch==2.13.0 onnx==1.23.2
    python -m benchmarks.fit_forget_reader

    python -m benchmarks.fit_forget_reader --no-held-out    # fits and writes only
    python -m benchmarks.fit_forget_reader --further        # goes on from the weights that there are with the wishes

It learns from `benchmarks/data/forgotten` (five things that somebody told, what they say later, and which of them
that asks to have forgotten; its README has the conventions), from what other users told, of other matters, which the
same messages do not ask for, and from what asks for nothing: news of `benchmarks/data/known`, and talk of
`benchmarks/data/talk`; and then, going on from there, from `benchmarks/data/wishes` beside some of all that.
`benchmarks/lora.py` says what is changed of MiniLM. Each author is judged by a fit that has not
seen them; the weights that are written have seen all but the talk of author tc and the wishes of two authors, which
they are judged on.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from benchmarks.fit_cross_encoder import user_of
from benchmarks.fit_pairs import told
from benchmarks.lora import Course, Example, console, fitted, gone_on, opened, report, write
from benchmarks.remembered import WISHES_HELD_OUT, wishes
from benchmarks.talk import talk_pairs
from policies.language.wording import READ_AS, called
from stores.embedding.cross_encoder import FORGETTING, CrossEncoder
from stores.embedding.minilm import MiniLM

_DATA: Final = Path(__file__).parent / "data" / "forgotten"
_WEIGHTS: Final = Path(__file__).parents[1] / "stores" / "embedding" / FORGETTING
_COURSE: Final = Course(4, 1e-3)
_FURTHER: Final = Course(2, 8e-4)
_DRAWN_AGAIN: Final = 6_000
"""Pairs of what the weights were fitted on that a fit which goes on reads again in each pass."""
_NEWS: Final = _DATA.parent / "known"
_NEWS_ROWS, _NEWS_KNOWN = 300, 2
"""Messages that tell news, and things known of each that are read beside them."""
_MOST_MEANT: Final = 3
"""Of five things; a message that asks for more may ask for all that is known, whatever it is."""
_APART: Final = 3
"""Things that other users told, read beside each message."""
_UNLIKE: Final = 0.35
"""The cosine below which they are of another matter than the message, and than what that asks for."""
_TOLD: Final = 0.7
"""The share of things that are told of somebody, as most memories are, instead of as they were said."""
_TALK_HELD_OUT: Final = "tc"
_BATCH: Final = 32
_CHANCES: Final = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class Pair:
    """Something that is known, a message, and whether that asks for it to be forgotten."""

    author: str
    known: str
    said: str
    is_meant: bool
    user: str
    is_remembered: bool = False
    """True where `known` is what the fleet remembered, and not as it was said."""


def main(
    held_out: Annotated[
        bool, typer.Option("--held-out/--no-held-out", help="Judge each author by a fit without them first.")
    ] = True,
    further: Annotated[
        bool, typer.Option("--further", help="Go on from the weights that there are, with the wishes.")
    ] = False,
) -> None:
    """Fit, say how right what it finds is, and write the weights."""
    pairs = _pairs()
    authors = sorted({pair.author for pair in pairs})
    console.print(f"{len(pairs):,} pairs of {len(authors)} authors")
    apart, talk = _apart(pairs), _talk()
    nothing = [*_news(), *(pair for pair in talk if pair.author != _TALK_HELD_OUT)]
    console.print(f"and {len(apart):,} of another matter, {len(nothing):,} that ask for nothing")
    if further:
        remembered = _remembered()
        _go_on([*nothing, *pairs, *apart], [pair for pair in remembered if pair.author not in WISHES_HELD_OUT])
        for author in sorted(WISHES_HELD_OUT):
            _report(author, [pair for pair in remembered if pair.author == author])
        return
    for author in authors if held_out and len(authors) > 1 else ():
        _fit([*nothing, *(pair for pair in [*pairs, *apart] if pair.author != author)])
        _report(author, [pair for pair in pairs if pair.author == author])
        _report_apart(author, [pair for pair in apart if pair.author == author])
    _fit([*nothing, *pairs, *apart])
    _report_apart(_TALK_HELD_OUT, [pair for pair in talk if pair.author == _TALK_HELD_OUT])


def _pairs() -> list[Pair]:
    return [
        Pair(file.stem, known, row["said"], index in row["meant"], user_of(row["known"]))
        for file in sorted(_DATA.glob("*.jsonl"))
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for index, known in enumerate(row["known"])
    ]


def _apart(pairs: Sequence[Pair]) -> list[Pair]:
    """Return messages that ask for some of what is known, beside what other users told of other matters."""
    chance, messages = random.Random(0), [pair for pair in pairs if pair.is_meant]
    whole = {said for said, meant in Counter(pair.said for pair in messages).items() if meant > _MOST_MEANT}
    drawn = [
        (message, other)
        for message in messages
        if message.said not in whole
        for other in chance.choices(pairs, k=2 * _APART)
        if other.said != message.said
    ]
    embedder = MiniLM()
    said, meant, known = (
        np.array(embedder.embed(texts))
        for texts in zip(*((message.said, message.known, other.known) for message, other in drawn), strict=True)
    )
    nearest = np.maximum((known * said).sum(1), (known * meant).sum(1))
    unlike = [
        replace(message, known=other.known, is_meant=False)
        for message, other in itertools.compress(drawn, nearest < _UNLIKE)
    ]
    return chance.sample(unlike, min(len(unlike), _APART * len(messages)))


def _news() -> list[Pair]:
    """Return what people told beside what they tell later, with which they ask for nothing to be forgotten."""
    rows = [
        (file.stem, row)
        for file in sorted(_NEWS.glob("*.jsonl"))
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]
    return [
        Pair(author, known, row["said"], is_meant=False, user=user_of(row["known"]))
        for author, row in random.Random(0).sample(rows, _NEWS_ROWS)
        for known in row["known"][:_NEWS_KNOWN]
    ]


def _talk() -> list[Pair]:
    """Return what people say in talk beside what they told before, of which it asks for nothing to be forgotten."""
    return [Pair(pair.author, pair.earlier, pair.later, is_meant=False, user=pair.user) for pair in talk_pairs()]


def _remembered() -> list[Pair]:
    """Return the wishes beside all that is remembered of their users."""
    return [
        Pair(wish.author, text, wish.said, is_meant, wish.user, is_remembered=True)
        for wish in wishes()
        for text, is_meant in wish.texts()
    ]


def _fit(pairs: Sequence[Pair]) -> None:
    write(fitted(lambda chance: _examples(pairs, chance), *opened(questions=1), _COURSE), _WEIGHTS)


def _go_on(before: Sequence[Pair], pairs: Sequence[Pair]) -> None:
    def examples(chance: random.Random) -> list[Example]:
        return _examples([*chance.sample(before, _DRAWN_AGAIN), *pairs], chance)

    fixed, changed = opened(questions=1)
    write(fitted(examples, fixed, gone_on(changed, _WEIGHTS), _FURTHER), _WEIGHTS)


def _examples(pairs: Sequence[Pair], chance: random.Random) -> list[Example]:
    return [
        Example(
            _as_told(pair) if pair.is_remembered or chance.random() < _TOLD else pair.known,
            pair.said,
            (float(pair.is_meant),),
        )
        for pair in pairs
    ]


def _as_told(pair: Pair) -> str:
    """Return what is known as the fleet reads it: told of a user who is called as all are."""
    known = called(pair.known, pair.user, READ_AS)
    return known if pair.is_remembered else told(known)


def _report(author: str, pairs: Sequence[Pair]) -> None:
    """Say how right the weights that were written are, as the fleet reads with them."""
    reader, texts = CrossEncoder(FORGETTING), [(_as_told(pair), pair.said) for pair in pairs]
    batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
    chances = [chance for batch in batches for chance in reader.chances(batch)]
    report(author, [pair.is_meant for pair in pairs], chances, _CHANCES)


def _report_apart(author: str, pairs: Sequence[Pair]) -> None:
    """Say how much of what is of another matter is read as meant."""
    chances = np.array(CrossEncoder(FORGETTING).chances([(_as_told(pair), pair.said) for pair in pairs]))
    read_so = ", ".join(f"{(chances >= level).mean():.3f} from {level}" for level in _CHANCES)
    console.print(f"author {author}: of {len(pairs):,} that are not meant are read as meant: {read_so}")


if __name__ == "__main__":
    typer.run(main)
