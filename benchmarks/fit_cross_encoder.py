"""Fit the cross-encoder, which reads two statements together: `stores/embedding/cross_encoder.npz`.

    pip install torch==2.13.0 onnx==1.23.2
    python -m benchmarks.fit_cross_encoder                      # half an hour on two cores
    python -m benchmarks.fit_cross_encoder --further db,dd      # what new authors wrote, too: seven minutes
    python -m benchmarks.fit_cross_encoder --further ha,hc      # and plain endings beside what is of other matters
    python -m benchmarks.fit_cross_encoder --further ua,ub,uc   # and messages beside what the fleet remembered
    python -m benchmarks.fit_cross_encoder --further ua,ub,uc,ue,uf --drawn 11000         # more, and talk
    python -m benchmarks.fit_cross_encoder --further ug,uh,va,vb,vc --drawn 9000          # and months of talk
    python -m benchmarks.fit_cross_encoder --further ui,va,vb,vc,ve --drawn 9000          # without what came about
    python -m benchmarks.fit_cross_encoder --further uk,um,un,uo,ux --drawn 6000 --share .33  # short acquaintance
    python -m benchmarks.fit_cross_encoder --further uk,um,un,uo,up,uq,ux --drawn 5000 --share .5  # and more of it

Eight authors (bg, dc, tc, ud, uj, ul, ur, vd) are held out: the weights that are written are those which are judged on
what they wrote. It learns from `benchmarks/data/known` (what somebody told before, what they say now, and what of it
that ends or tells again; its README has the conventions), from the pairs of `benchmarks/data/changes.jsonl`, from
`data/plain`: what ends a thing told in few words, beside what was told of other matters, which it leaves; from
`data/endings`: whole messages beside what the fleet remembered of their users; and from talk (`data/talk`), which ends
next to nothing. `benchmarks/lora.py` says what is changed of MiniLM.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import torch
import typer

from benchmarks.fit_pairs import told
from benchmarks.lora import (
    NOT_LABELLED,
    Course,
    Example,
    console,
    fitted,
    gone_on,
    opened,
    report,
    write,
)
from benchmarks.remembered import endings
from benchmarks.talk import talk_pairs
from policies.language.wording import READ_AS, called
from stores.embedding.cross_encoder import ENDINGS, CrossEncoder

_DATA: Final = Path(__file__).parent / "data"
_WEIGHTS: Final = Path(__file__).parents[1] / "stores" / "embedding" / ENDINGS
_BATCH: Final = 32
_TOLD: Final = 0.4
"""The share of pairs that are told of somebody, as most memories are, instead of as they were said."""
_LIFTED: Final = 0.45
"""The lift of all scores, chosen on the authors held out: under the one name by which every user is read they
are lower than under others, and lifted so far, as many pairs are called an ending from `policies.pairs.ENDS_FROM` on as
are one, and as many endings found as under other names before (docs/reference/cross-encoder.md)."""
_NOTE: Final = re.compile(r"([A-Z][^\W\d_]+)(?::|'s| )")
"""The beginning of a note with a name: "Maya: ...", "Maya's sister ...", "Maya lives ..."."""
_NO_NAMES: Final = frozenset({"I", "My", "We", "Our", "He", "His", "She", "Her", "It", "They", "This", "The"})
_CHANCES: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


_NEAREST_OF_TALK: Final = 6
"""Of what somebody told before, the nearest things, beside which what they say in talk is read."""
_APART: Final = 6
"""Things of other matters that a message of `plain` is read beside, next to the one that it ends."""

_NEW_SHARE: Final = 2 / 3
"""How far the weights go from those before a further fit to those after it, so that what was learned first is not lost
(Wortsman et al., "Robust fine-tuning of zero-shot models", 2022): "I moved to Berlin" ended "I live in Lisbon" by .94
before, by .19 with all that `ha` and `hc` taught, and does by .73 at this share."""

_ANEW: Final = Course(4, 1e-3)
_FURTHER: Final = Course(2, 4e-4)


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
    is_remembered: bool = False
    """True where it is read as it stands: what the fleet remembered, and a whole message."""


def main(
    held_out: Annotated[
        str, typer.Option(help="The authors to judge on instead of learning from.")
    ] = "bg,dc,tc,ud,uj,ul,ur,vd",
    further: Annotated[
        str,
        typer.Option(help="Go on from the weights that there are, with these new authors and as much of the others."),
    ] = "",
    share: Annotated[
        float, typer.Option(help="How far to go from the weights that there are to those of a further fit.")
    ] = _NEW_SHARE,
    drawn: Annotated[
        int | None, typer.Option(help="How many pairs of the other authors to go on with, instead of as many.")
    ] = None,
) -> None:
    """Fit on all authors but some, say how right it is on those, and write the weights."""
    pairs = [*_known(), *_changes(), *_plain(), *_endings(), *_talk()]
    judged, new = held_out.split(","), further.split(",") if further else []
    learned = [pair for pair in pairs if pair.author not in judged]
    if new:
        others = [pair for pair in learned if pair.author not in new]
        news = [pair for pair in learned if pair.author in new]
        learned = news + random.Random(0).sample(others, min(drawn or len(news), len(others)))
    console.print(f"{len(learned):,} pairs of {len({pair.author for pair in learned})} authors to learn from")
    fixed, changed = opened(questions=2)
    for author in judged if new else ():
        _report(author, [pair for pair in pairs if pair.author == author])

    def examples(chance: random.Random) -> list[Example]:
        return [_example(pair, chance, again=not new) for pair in learned]

    begun = gone_on(changed, _WEIGHTS, _LIFTED) if new else changed
    before = {name: tensor.detach().clone() for name, tensor in begun.items()}
    weights = fitted(examples, fixed, begun, _FURTHER if new else _ANEW)
    if new:
        weights = {name: torch.lerp(before[name], tensor, share) for name, tensor in weights.items()}
    write(weights, _WEIGHTS, _LIFTED)
    for author in judged:
        _report(author, [pair for pair in pairs if pair.author == author])


def _known() -> Iterator[Pair]:
    for file in sorted((_DATA / "known").glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            user = user_of(row["known"])
            for index, earlier in enumerate(row["known"]):
                yield Pair(file.stem, earlier, row["said"], index in row["ends"], index in row["again"], user)


def user_of(known: Sequence[str]) -> str:
    """Return the name with which most notes begin, if two do."""
    names = Counter(note[1] for summary in known if (note := _NOTE.match(summary)) and note[1] not in _NO_NAMES)
    return next((name for name, count in names.most_common(1) if count > 1), "")


def _endings() -> Iterator[Pair]:
    for message in endings():
        for text, ends in message.surely_labelled():
            known = called(text, message.user, READ_AS)
            yield Pair(message.author, known, message.said, ends, NOT_LABELLED, is_remembered=True)


def _talk() -> Iterator[Pair]:
    for pair in talk_pairs(nearest=_NEAREST_OF_TALK):
        known = told(called(pair.earlier, pair.user, READ_AS))
        yield Pair(pair.author, known, pair.later, pair.ends, NOT_LABELLED, is_remembered=True)


def _changes() -> Iterator[Pair]:
    for row in map(json.loads, (_DATA / "changes.jsonl").read_text(encoding="utf-8").splitlines()):
        yield Pair(row["author"], row["old"], row["new"], row["change"], NOT_LABELLED)


def _plain() -> Iterator[Pair]:
    """Yield what was told in few words beside what ends it, and beside as many times `_APART` of other matters."""
    for file in sorted((_DATA / "plain").glob("*.jsonl")):
        chance = random.Random(0)
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            apart = [other for other in rows if other["topic"] != row["topic"]]
            for later in row["ended_by"]:
                yield Pair(file.stem, row["told"], later, 1.0, NOT_LABELLED)
                for other in chance.sample(apart, _APART):
                    yield Pair(file.stem, other["told"], later, 0.0, NOT_LABELLED)


def _example(pair: Pair, chance: random.Random, *, again: bool) -> Example:
    """Return a pair as it was said or as it is told. What is told again is not learned where a fit goes on: what the
    first had learned of that is not kept with the weights."""
    is_told = not pair.is_remembered and chance.random() < _TOLD
    earlier, later = _as_told(pair) if is_told else (pair.earlier, pair.later)
    return Example(earlier, later, (pair.ends, pair.again if again else NOT_LABELLED))


def _as_told(pair: Pair) -> tuple[str, str]:
    """Return both statements as the fleet reads them: told of a user who is called as all are."""
    if pair.is_remembered:
        return pair.earlier, pair.later
    return told(called(pair.earlier, pair.user, READ_AS)), told(called(pair.later, pair.user, READ_AS))


def _report(author: str, pairs: Sequence[Pair]) -> None:
    """Say how right the weights in the repository are, as the fleet reads with them."""
    reader, texts = CrossEncoder(ENDINGS), [_as_told(pair) for pair in pairs]
    batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
    chances = [chance for batch in batches for chance in reader.chances(batch)]
    report(author, [pair.ends > 0 for pair in pairs], chances, _CHANCES)


if __name__ == "__main__":
    typer.run(main)
