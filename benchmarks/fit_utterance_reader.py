"""Fit what reads an utterance by itself: whether it is worth a memory, what it orders, whose words it holds
(`stores/embedding/utterance_reader.npz`).

    pip install torch==2.13.0 onnx==1.23.2
    python -m benchmarks.fit_utterance_reader --held-out d,e,q,r    # says how right it is on these, writes nothing
    python -m benchmarks.fit_utterance_reader                       # fits on all, and writes
    python -m benchmarks.fit_utterance_reader --further ra,rb,pv    # goes on, with all of these authors and some others
    python -m benchmarks.fit_utterance_reader --further told,wa,wc,wd,we,wf,q,s,b,j,a,h,g,k,i   # and plain telling

It learns all that is labelled in `benchmarks/data/utterances` at once; of intents alone from whole messages: those
that ask for something to be forgotten (`benchmarks/data/forgotten`, `data/wishes`), and those that ask for nothing,
news of `data/known` and `data/endings`, and talk of `data/talk`; of worth from the sentences of that talk, each after
the one before it, from what was told in few words (`data/plain`), and from what is asked in as few (`data/requests`);
of planted orders from the claims and cases of `benchmarks.fit_planted_head`; of what is sensitive about others from
the clauses of `benchmarks.fit_sensitive_head`; of whose words a sentence holds from `data/whose`, and from the messages
of `data/endings`, which are their speaker's own; and of whether a wish means all that is known from
`data/wholes.jsonl`. Of those from whom it never learns, author tc of the talk and
the authors of `utterances/held_out`, it says how right it is.
`benchmarks/lora.py` says what is changed of MiniLM.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from benchmarks import fit_sensitive_head
from benchmarks.fit_heads import DATA, Row, balanced, plain_rows, rows_in
from benchmarks.fit_planted_head import cases_and_claims
from benchmarks.fit_sensitive_head import labelled, plain_talk
from benchmarks.lora import NOT_LABELLED, Course, Example, console, fitted, gone_on, opened, scores, write
from benchmarks.remembered import ENDINGS_HELD_OUT, WISHES_HELD_OUT, endings, wishes
from benchmarks.talk import HELD_OUT, said_in_talk
from policies.language.heads import HEADS
from policies.language.languages import ENGLISH, language_of
from policies.language.orders import orders_of
from policies.language.sentences import split_sentences
from policies.privacy import planted
from policies.privacy.third_parties import OTHERS_READ_AS
from stores.embedding.reading import read_as
from stores.embedding.utterance_reader import WEIGHTS

_WRITTEN: Final = Path(__file__).parents[1] / "stores" / "embedding" / WEIGHTS
_MESSAGES: Final = Path(__file__).parent / "data"
_COURSE: Final = Course(3, 1e-3)
_FURTHER: Final = Course(2, 5e-4)
_DRAWN_AGAIN: Final = 6_000
"""Utterances that a fit which goes on reads again in each pass."""
_SHARE: Final = 0.5
"""How far a fit that goes on takes the weights: all the way it unlearns what it reads little of again; half of the way
of talk held out worth is .941 (balanced; .937 before, .934 all the way), of others' sensitive matters .853 (.858)."""
_PLANTED: Final = "planted"
_SENSITIVE: Final = "sensitive"
_OTHERS: Final = "others"
_WHOLE: Final = "whole"
_YES_NO: Final = ("worth", _PLANTED, _SENSITIVE, _OTHERS, _WHOLE)
_ASKED: Final = (*HEADS, _SENSITIVE, _OTHERS, _WHOLE)
_WHOSE_HELD_OUT: Final = "wb"
_WHOLES_HELD_OUT: Final = "pu"
_FEWEST_KNOWN: Final = 3
"""Memories of a user of which a wish that means each means all that is known."""
_TOLD: Final = "told"
_TOLD_SENTENCES: Final = 3_000
"""Sentences behind others of what people tell, whose words are their own: of those of `data/whose` hardly any stands
behind a sentence that announces nothing."""
_NEWS: Final = 600
"""Messages that tell news, and ask for nothing."""
_FORGET: Final = ("intent", "forget")
_CHANCES: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
Question = tuple[str, str]
"""A head and one of its labels, which an utterance has or has not."""


def main(
    held_out: Annotated[str, typer.Option(help="Authors that are not learned from, with commas between.")] = "",
    further: Annotated[
        str,
        typer.Option(help="Go on from the weights that there are, with all of these authors and a part of the others."),
    ] = "",
) -> None:
    """Fit, say how right what is read is of those who were held out, and write the weights if nobody was."""
    rows, out, again = rows_in(DATA), set(filter(None, held_out.split(","))), set(filter(None, further.split(",")))
    questions = _questions(rows)
    sentences, about_others, whose, wholes = list(_sentences()), list(_sensitive()), list(_whose()), list(_wholes())
    learned = [
        *(row for row in rows if row.author not in out),
        *_messages(),
        *(one for one in sentences if one.author != HELD_OUT),
        *plain_rows(),
        *_planted(),
        *(one for one in about_others if one.author != fit_sensitive_head.HELD_OUT),
        *(one for one in whose if one.author != _WHOSE_HELD_OUT),
        *_told(),
        *(one for one in wholes if one.author != _WHOLES_HELD_OUT),
    ]
    of_these = [_example(row, questions) for row in learned if row.author in again]
    examples = [_example(row, questions) for row in learned if row.author not in again]
    console.print(f"{len(of_these):,} and {len(examples):,} utterances and messages, {len(questions)} questions")
    fixed, changed = opened(len(questions))
    if again:
        changed = gone_on(changed, _WRITTEN, questions=[":".join(question) for question in questions])
        before = {name: tensor.detach().clone() for name, tensor in changed.items()}
        weights = fitted(lambda chance: [*of_these, *chance.sample(examples, _DRAWN_AGAIN)], fixed, changed, _FURTHER)
        weights = {name: torch.lerp(before[name], tensor, _SHARE) for name, tensor in weights.items()}
    else:
        weights = fitted(lambda _: examples, fixed, changed, _COURSE)
    never = [*rows_in(DATA / "held_out"), *(one for one in sentences if one.author == HELD_OUT)]
    never += [one for one in about_others if one.author == fit_sensitive_head.HELD_OUT]
    never += [one for one in whose if one.author == _WHOSE_HELD_OUT]
    never += [one for one in wholes if one.author == _WHOLES_HELD_OUT]
    for author in (*sorted(out), *dict.fromkeys(row.author for row in never)):
        mine = [row for row in (*rows, *never) if row.author == author]
        _report(author, mine, questions, scores(fixed, weights, [read_as(row.text, row.before) for row in mine]))
    talk = [text for _, text in said_in_talk(HELD_OUT)]
    news = [one.said for one in endings() if one.author in ENDINGS_HELD_OUT and not _orders_to_forget(one.said)]
    for of_whom, texts in ((HELD_OUT, talk), (", ".join(sorted(ENDINGS_HELD_OUT)), list(dict.fromkeys(news)))):
        _report_wishes(of_whom, scores(fixed, weights, [read_as(text) for text in texts])[:, questions.index(_FORGET)])
    if not out:
        write(weights, _WRITTEN, questions=[":".join(question) for question in questions])


def _questions(rows: Sequence[Row]) -> list[Question]:
    labels = {head: sorted({row.labels[head] for row in rows if head in row.labels}) for head in HEADS}
    return [(head, label) for head in _ASKED for label in (["1"] if head in _YES_NO else labels[head])]


def _example(row: Row, questions: Sequence[Question]) -> Example:
    labels = tuple(
        float(row.labels[head] == label) if head in row.labels else NOT_LABELLED for head, label in questions
    )
    return Example(*read_as(row.text, row.before), labels)


def _asking(author: str, text: str, intent: str) -> Row:
    return Row(author, text, "", ENGLISH, {_FORGET[0]: intent})


def _messages() -> Iterator[Row]:
    """Yield whole messages with their intents: wishes to forget, and what asks for nothing."""
    chance = random.Random(0)
    for author, row in _rows("forgotten"):
        if row["meant"]:
            yield _asking(author, row["said"], "forget")
        yield _asking(author, chance.choice(row["known"]), "none")
    for author, row in chance.sample(list(_rows("known")), _NEWS):
        yield _asking(author, row["said"], "none")
    for wish in wishes():
        if wish.author not in WISHES_HELD_OUT:
            intent = "forget" if wish.asks else "none"
            yield from (_asking(wish.author, wish.said, intent) for _ in range(2))
            yield from (_asking(wish.author, text, "none") for text in wish.told)
    for line in (_MESSAGES / "messages.jsonl").read_text(encoding="utf-8").splitlines():
        yield _asking("messages", json.loads(line)["said"], "none")
    for message in endings():
        if message.author not in ENDINGS_HELD_OUT and not _orders_to_forget(message.said):
            yield _asking(message.author, message.said, "none")
    for _ in range(2):  # Or friends who part are taken for somebody who wants to be forgotten.
        yield from (_asking(author, text, "none") for author, text in said_in_talk())


def _orders_to_forget(text: str) -> bool:
    return any(order.intent == _FORGET[1] for order in orders_of(text, "", language_of(text)))


def _sentences() -> Iterator[Row]:
    """Yield the sentences of talk and of requests, each with those before it, and their worth. Nothing in them is
    planted, and all are the speaker's own words."""
    for author, row in (*_rows("talk"), *_rows("requests")):
        for before, text, worth in _one_by_one(row.get("said", ()), row.get("worth", ())):
            yield Row(author, text, before, ENGLISH, {"worth": str(worth), _PLANTED: "0", _OTHERS: "0"})


def _whose() -> Iterator[Row]:
    """Yield sentences, each with those of its message before it, and whether they are others' words."""
    for author, row in _rows("whose"):
        for before, text, other in _one_by_one(row["said"], row["other"]):
            yield Row(author, text, before, ENGLISH, {_OTHERS: str(other)})


def _told() -> Iterator[Row]:
    """Yield sentences of what people tell, each with those of its message before it, as their speaker's own words."""
    rows: dict[tuple[str, str], Row] = {}
    for message in endings():
        if message.author not in ENDINGS_HELD_OUT:
            for text in (*message.told, message.said):
                sentences = [sentence.text for sentence in split_sentences(text)]
                for before, sentence, label in _one_by_one(sentences, [0] * len(sentences)):
                    if before:
                        rows[before, sentence] = Row(_TOLD, sentence, before, ENGLISH, {_OTHERS: str(label)})
    yield from random.Random(0).sample(list(rows.values()), _TOLD_SENTENCES)


def _wholes() -> Iterator[Row]:
    """Yield wishes to forget, and whether they mean all that is known."""
    for line in (_MESSAGES / "wholes.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Row("wholes", row["said"], "", ENGLISH, {_WHOLE: str(row["all"])})
    for wish in wishes():
        if wish.author not in WISHES_HELD_OUT and wish.among == len(wish.known) >= _FEWEST_KNOWN:
            means_all = len({place for place, _ in wish.meant}) == len(wish.known)
            yield Row(wish.author, wish.said, "", ENGLISH, {_WHOLE: str(int(means_all))})


def _one_by_one(said: Sequence[str], labels: Sequence[int]) -> Iterator[tuple[str, str, int]]:
    """Yield each sentence of a message behind what stands before it, with its label."""
    for number, (text, label) in enumerate(zip(said, labels, strict=False)):
        yield " ".join(said[:number]), text, label


def _planted() -> Iterator[Row]:
    """Yield texts in English that are planted, or look like it, with their label."""
    for row in cases_and_claims():
        if language_of(row.text) == ENGLISH:
            yield Row(_PLANTED, planted.as_read(row.text), "", ENGLISH, {_PLANTED: str(int(row.planted))})


def _sensitive() -> Iterator[Row]:
    """Yield what is told in English of others who are named, all under one name, and whether it is sensitive."""
    for row in (*labelled(OTHERS_READ_AS), *plain_talk(OTHERS_READ_AS)):
        if language_of(row.text) == ENGLISH:
            yield Row(row.author, row.text, "", ENGLISH, {_SENSITIVE: str(int(row.sensitive))})


def _rows(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted((_MESSAGES / folder).glob("*.jsonl")):
        yield from ((file.stem, json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines())


def _report(author: str, rows: Sequence[Row], questions: Sequence[Question], read: NDArray[np.float32]) -> None:
    for head in _ASKED:
        columns = [number for number, (name, _) in enumerate(questions) if name == head]
        labelled = [number for number, row in enumerate(rows) if head in row.labels]
        if not labelled:
            continue
        truth = np.array([rows[number].labels[head] for number in labelled])
        scored = read[np.ix_(labelled, columns)]
        labels = np.array([questions[column][1] for column in columns])
        found = labels[scored.argmax(1)] if len(columns) > 1 else (scored[:, 0] > 0).astype(int).astype(str)
        right = (found == truth).mean()
        console.print(f"author {author}: {head}: {right:.3f} of {len(truth)}, balanced {balanced(truth, found):.3f}")
    asked = [number for number, row in enumerate(rows) if "intent" in row.labels]
    is_wish = np.array([rows[number].labels["intent"] == _FORGET[1] for number in asked], dtype=bool)
    if asked:
        wishes = read[asked, questions.index(_FORGET)]
        _report_wishes(f"{author}, wishes", wishes[is_wish])
        _report_wishes(f"{author}, no wishes", wishes[~is_wish])


def _report_wishes(of_whom: str, read: NDArray[np.float32]) -> None:
    chances = 1 / (1 + np.exp(-read))
    found = ", ".join(f"{(chances >= level).sum()} from {level}" for level in _CHANCES)
    console.print(f"{of_whom}: of {len(read):,} are read as wishes to forget: {found}")


if __name__ == "__main__":
    typer.run(main)
