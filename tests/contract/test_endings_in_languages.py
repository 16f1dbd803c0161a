"""Changes in other languages than English are read beside what they may end, with the multilingual embedder."""

from __future__ import annotations

import pytest

from schema.settings import Settings
from stores.embedding import open_cross_encoder, open_pair_reader
from stores.embedding.multilingual import MultilingualE5
from stores.embedding.pair_reader import PairReader

ENDED = [
    ("Vivo en Oviedo.", "Ya no vivo en Oviedo, me mudé a Gijón."),
    ("Ich wohne in Halle.", "Ich bin nach Leipzig umgezogen."),
    ("J'habite à Rennes.", "J'ai déménagé à Nantes."),
    ("Palę papierosy.", "Rzuciłem palenie w zeszłym roku."),
    ("我抽烟。", "我已经戒烟了。"),
]
OTHERS = [
    ("Vivo en Oviedo.", "Me gusta mucho la sidra."),
    ("Ich wohne in Halle.", "Heute gibt es Nudeln."),
    ("J'habite à Rennes.", "Je chante dans une chorale."),
    ("Palę papierosy.", "Mam dwa koty."),
    ("我抽烟。", "我喜欢喝绿茶。"),
]


@pytest.fixture(scope="module")
def reader() -> PairReader:
    return PairReader(MultilingualE5())


def test_what_plainly_ends_a_fact_is_likelier_to_than_what_is_of_something_else(reader: PairReader) -> None:
    each = zip(reader.chances(ENDED), reader.chances(OTHERS), strict=True)

    assert [ended > other for ended, other in each] == [True] * len(ENDED)


def test_who_is_quoted_changes_nothing(reader: PairReader) -> None:
    quoted = [(f'Maya: "{earlier}"', f'Maya: "{later}"') for earlier, later in ENDED]

    assert reader.chances(quoted) == pytest.approx(reader.chances(ENDED))


def test_nothing_is_read_of_no_pairs(reader: PairReader) -> None:
    assert reader.chances([]) == []


def test_statements_of_other_languages_are_read_with_the_multilingual_embedder_alone() -> None:
    multilingual, minilm = Settings(embedder="multilingual"), Settings(embedder="minilm")

    assert open_pair_reader(multilingual, MultilingualE5()) is not None
    assert open_pair_reader(minilm, MultilingualE5()) is None
    assert open_cross_encoder(multilingual) is open_cross_encoder(minilm)
