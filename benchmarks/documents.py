"""Documents, measured: how fast they become searchable, how fast they are searched and deleted, and what is found.

    python -m benchmarks.documents [--postgres] [--chunks 10000]

Times are by the clock and, where it says CPU, of the whole process: on a machine with other work the second holds.

Two texts are asked about. One is made here: paragraphs of one happening each, with names, places and things of their
own, and a question to each in other words. The other is real, some 5,500 words on one matter, whose parts are easily
taken for each other: what Python's own reference says of its types (`pydoc_data`), with questions of a reader who does
not know its terms, written before they were ever asked.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final

import numpy as np

from benchmarks.stores_parts import postgres_of_our_own
from interfaces.local.broker import embedded_broker
from memory.context import MemoryContext, open_memory
from memory.documents.delete import delete_document
from memory.documents.indexing import make_searchable
from memory.documents.put import put_document
from policies.access import seen_by
from recall.excerpts import find_excerpts
from schema import Capability, Document, MemberRole, Principal, Subject, Visibility
from schema.settings import Settings
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.embedding.base import Embedder, Reading, Vectors, reading_of
from stores.index.base import Vector
from tests.conftest import free_port

_NAMES: Final = (
    *("Alma", "Bruno", "Carla", "Dario", "Edda", "Falk", "Greta", "Hugo"),
    *("Ilse", "Jakob", "Klara", "Leo", "Mina", "Nils", "Olga", "Paul"),
)
_QUESTIONS: Final = Path(__file__).parent / "data" / "questions.jsonl"
"""Questions about Python's reference, and the words there that answer each."""
_SIZES: Final = (60, 100, 160, 240)
"""Tokens of the chunks that are compared; the embedder reads no more than 256."""
_STORIES: Final = 5
_PLACES: Final = ("the harbour", "the old mill", "the school", "the bakery", "the station", "the orchard", "the chapel")
_THINGS: Final = [
    ("mended a clock that had stopped in the war", "Which timepiece did {name} repair?"),
    ("buried a box of letters under the floor", "What correspondence did {name} hide?"),
    ("taught the children to swim in the cold lake", "Who gave the kids swimming lessons, was it {name}?"),
    ("sold the last horse to a stranger from the north", "Which animal did {name} part with?"),
    ("painted the door blue against everybody's wish", "Whose idea was the colour of the entrance, {name}'s?"),
    ("caught a thief with a lantern and a loaf of bread", "How did {name} stop the burglar?"),
    ("lost a ring in the flour and found it years later", "Where did {name} misplace the jewellery?"),
    ("wrote a song that was sung at every wedding", "What music did {name} compose?"),
    ("planted a walnut tree for each grandchild", "What did {name} grow for the family?"),
    ("walked forty miles through snow to fetch a doctor", "How did {name} get medical help?"),
    ("kept bees on the roof and gave honey to the poor", "Which insects did {name} look after?"),
    ("burned the ledger so that nobody owed anything", "How did {name} free people of debts?"),
]
_FILLER: Final = (
    "It was a year of long rains, and people spoke of it for a generation. Nobody thought then that it would matter. "
    "The neighbours came by in the evening, as they did, and sat until the lamp was low. "
)
_ABOUT_NOTHING: Final = (
    "How do I file my tax return in Portugal?",
    "Which port does the database listen on?",
    "What is the boiling point of nitrogen?",
    "Who won the football cup in 1998?",
    "How long may I keep a rental car?",
    "What is the capital of Mongolia?",
    "Which vitamins are in spinach?",
    "How do I reset my router?",
)


def text_with_questions(words: int, seed: int = 1) -> tuple[str, list[tuple[str, str]]]:
    """Return a text of about so many words, and questions with the sentence that answers each."""
    chosen = random.Random(seed)
    pairs = [(name, thing) for name in _NAMES for thing in _THINGS]
    chosen.shuffle(pairs)
    paragraphs, asked, length = [], [], 0
    for name, (did, question) in pairs:
        fact = f"{name} {did} near {chosen.choice(_PLACES)}."
        before, after = (_FILLER * chosen.randint(1, 2) for _ in range(2))
        paragraphs.append(f"{before}{fact} {after}".strip())
        asked.append((question.format(name=name), fact))
        length += len(paragraphs[-1].split())
        if length >= words:
            break
    return "\n\n".join(paragraphs), asked


def reference_with_questions() -> tuple[str, list[tuple[str, str]]]:
    """Return a real text, and questions with the words that answer each, as far as this Python has these words."""
    text = str(topics["types"])
    rows = [json.loads(line) for line in _QUESTIONS.read_text().splitlines()]
    asked = [(row["question"], row["answer"]) for row in rows if row["answer"] in _on_one_line(text)]
    if left_out := len(rows) - len(asked):
        print(f"{left_out} questions are left out: the reference of this Python answers them in other words")
    return text, asked


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


class Remembering:
    """An embedder that embeds no text twice, so that copies of a story are kept as fast as stores take them."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        self.name, self.dimensions, self.thresholds = embedder.name, embedder.dimensions, embedder.thresholds
        self.reading: Reading = reading_of(embedder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors as the embedder makes them."""
        if new := [text for text in texts if text not in self._known]:
            self._known |= dict(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])


@contextmanager
def opened(on_postgres: bool, **policy: int) -> Iterator[MemoryContext]:
    """Open stores and a broker of their own, the model loaded, with other policy constants."""
    broker = f"redis://127.0.0.1:{free_port()}/0"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(embedded_broker(broker, folder / "broker"))
        settings = Settings(data_dir=folder / "data", broker_url=broker)
        if on_postgres:
            database = stack.enter_context(postgres_of_our_own(folder / "postgres"))
            engine = create_catalog_engine(database)
            migrate(engine)
            engine.dispose()
            settings = settings.model_copy(update={"catalog_url": database, "index": "pgvector"})
        context = stack.enter_context(closing(open_memory(settings)))
        context.embedder.embed(["Load the model."])
        yield replace(context, policy=context.policy.model_copy(update=policy))


def put(context: MemoryContext, whose: Subject, id_: str, content: str) -> float:
    """Put a document and carry it through; return how many seconds that took."""
    began = time.perf_counter()
    put_document(None, Document(document_id=id_, **whose.model_dump(), content=content), context, now=datetime.now(UTC))
    make_searchable(whose, id_, context, lambda: datetime.now(UTC))
    return time.perf_counter() - began


def recall_of(context: MemoryContext, whose: Subject, asked: list[tuple[str, str]]) -> float:
    """Return the share of questions whose sentence is among the first five chunks."""
    found = 0
    for question, fact in asked:
        excerpts = find_excerpts(None, [whose], question, context, limit=5, relevant_only=False)
        found += any(fact in _on_one_line(excerpt.content) for excerpt in excerpts)
    return found / len(asked)


def cut_offs(context: MemoryContext, whose: Subject, asked: list[tuple[str, str]]) -> None:
    """Print how many right excerpts each cut-off keeps, and how many questions about nothing get something."""
    right = []
    for question, fact in asked:
        excerpts = find_excerpts(None, [whose], question, context, limit=5, relevant_only=False)
        right += [excerpt.evidence for excerpt in excerpts if fact in _on_one_line(excerpt.content)]
    wrong = [
        max(excerpt.evidence for excerpt in find_excerpts(None, [whose], question, context, relevant_only=False))
        for question in _ABOUT_NOTHING
    ]
    for cut in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        kept = sum(evidence >= cut for evidence in right) / len(right)
        quiet = sum(evidence < cut for evidence in wrong) / len(wrong)
        print(f"cut-off {cut:.2f}: {kept:.2f} of right excerpts told, {quiet:.2f} of foreign questions get nothing")


def p95(seconds: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(seconds, n=20)[-1]


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--postgres", action="store_true", help="in a Postgres of its own with pgvector, not in SQLite"
    )
    arguments.add_argument("--chunks", type=int, default=10_000, help="how many the searched archive has")
    given = arguments.parse_args()
    made, real = text_with_questions(5_000), reference_with_questions()
    for size in _SIZES:
        with opened(
            given.postgres, chunk_tokens=size, chunk_overlap_tokens=size // 10, chunk_max_tokens=size
        ) as context:
            for name, (text, asked) in (("made-up", made), ("real", real)):
                whose = Subject(tenant_id="t", subject_id=name)
                seconds = put(context, whose, "text", text)
                count = len(context.catalog.documents.chunks_of(whose, "text"))
                print(
                    f"chunks of {size}: {count} of a {name} text, put to searchable {seconds:.1f} s, "
                    f"of {len(asked)} answers among the first five {recall_of(context, whose, asked):.3f}"
                )
                if size == _SIZES[-1]:
                    cut_offs(context, whose, asked)
    with opened(given.postgres) as context:
        whose = Subject(tenant_id="t", subject_id="large")
        story, _ = text_with_questions(20_000)
        began = time.process_time()
        took = [put(context, whose, f"story{seed}", text_with_questions(20_000, seed)[0]) for seed in range(_STORIES)]
        cpu = (time.process_time() - began) / _STORIES
        held = len(context.catalog.documents.chunks_of(whose, "story1"))
        print(
            f"20,000 words, put to searchable: p50 {statistics.median(took):.1f} s, "
            f"slowest of {_STORIES} {max(took):.1f} s, CPU {cpu:.1f} s, "
            f"{held} chunks, {held / statistics.median(took):.0f} chunks/s"
        )
        copying = replace(context, embedder=Remembering(context.embedder))
        put(copying, whose, "long", "\n\n".join([story] * 7))
        while (total := context.catalog.documents.counts().chunks) < given.chunks:
            put(copying, whose, f"copy{total}", story)
        searched(context, whose)
        document = context.catalog.documents.get(whose, "long")
        assert document is not None
        began, cpu = time.perf_counter(), time.process_time()
        gone = delete_document(document, context, by="bench", reason="measured", now=datetime.now(UTC))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        print(f"deletion of {gone} chunks: {seconds:.2f} s, CPU {cpu:.2f} s")


def searched(context: MemoryContext, whose: Subject) -> None:
    """Print how long a search takes with the filter of a creator, and without one."""
    reader = Principal(
        tenant_id="t", user_id=whose.subject_id, capabilities=frozenset({Capability.READ}), key_id="bench"
    )
    assert seen_by(reader, MemberRole.CREATOR, whose)[0].visibilities[0] is Visibility.PUBLIC
    total = context.catalog.documents.counts().chunks
    questions = [question for question, _ in text_with_questions(20_000)[1][:100]]
    find_excerpts(reader, [whose], questions[0], context)

    def embed(question: str) -> None:
        context.embedder.embed([question])

    for name, do in (
        ("creator's filter", lambda question: find_excerpts(reader, [whose], question, context)),
        ("no filter", lambda question: find_excerpts(None, [whose], question, context)),
        ("of it, the question embedded", embed),
    ):
        took, cpu = [], []
        for question in questions:
            began, cpu_began = time.perf_counter(), time.process_time()
            do(question)
            took.append(time.perf_counter() - began)
            cpu.append(time.process_time() - cpu_began)
        print(
            f"search at {total} chunks, {name}: p50 {1000 * statistics.median(took):.1f} ms, "
            f"p95 {1000 * p95(took):.1f} ms; "
            f"CPU p50 {1000 * statistics.median(cpu):.1f} ms, p95 {1000 * p95(cpu):.1f} ms"
        )


if __name__ == "__main__":
    main()
