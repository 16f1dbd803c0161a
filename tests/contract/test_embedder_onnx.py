"""A model in a folder: what is read of the folder, and what is said when it cannot work."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from schema.errors import SettingsError
from stores.open import policy_on_scale_of
from tests.contract.embedders import minilm, onnx_folder, open_onnx

TEXT = "The user lives in Berlin."


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return onnx_folder(tmp_path_factory.mktemp("models") / "a-model")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A folder of a test's own with the same files."""
    own = tmp_path / "a-model"
    own.mkdir()
    for file in whole.iterdir():
        (own / file.name).symlink_to(file)
    return own


def write(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


def test_minilm_from_a_folder_makes_the_vectors_of_the_minilm_in_the_packages(folder: Path) -> None:
    assert np.allclose(open_onnx(folder).embed([TEXT]), minilm().embed([TEXT]), atol=1e-6)


def test_pooling_is_as_the_folder_says_unless_it_is_set(folder: Path) -> None:
    mean = open_onnx(folder).embed([TEXT])
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    cls = open_onnx(folder).embed([TEXT])

    assert not np.allclose(cls, mean, atol=1e-2)
    assert np.array_equal(open_onnx(folder, embedder_pooling="mean").embed([TEXT]), mean)


def test_a_pooling_that_is_not_known_is_refused(folder: Path) -> None:
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_lasttoken": True})
    with pytest.raises(SettingsError, match=r"AFTERTURN_EMBEDDER_MODEL: .*pooling_mode_lasttoken"):
        open_onnx(folder)


def test_a_model_may_lie_in_the_folder_onnx(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert open_onnx(folder).dimensions == 384


def test_no_more_tokens_are_read_than_the_folder_says(folder: Path) -> None:
    write(folder / "sentence_bert_config.json", {"max_seq_length": 8})
    embedder = open_onnx(folder)
    assert np.array_equal(embedder.embed(["word " * 20]), embedder.embed(["word " * 20 + "violin"]))


def test_the_name_changes_with_the_model_and_with_how_it_is_used(folder: Path) -> None:
    names = [
        open_onnx(folder).name,
        open_onnx(folder, embedder_pooling="cls").name,
        open_onnx(folder, embedder_prefix="query: ").name,
    ]
    tokenizer = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").write_text(tokenizer + " ")
    names.append(open_onnx(folder).name)

    assert len(set(names)) == 4
    assert all(name.startswith("a-model-") for name in names)


def test_what_the_model_wants_before_each_text_changes_the_vector(folder: Path) -> None:
    plain, prefixed = open_onnx(folder), open_onnx(folder, embedder_prefix="query: ")
    assert np.allclose(prefixed.embed([TEXT]), plain.embed([f"query: {TEXT}"]), atol=1e-6)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(SettingsError, match=rf"AFTERTURN_EMBEDDER_MODEL: .*a-model has no {missing}"):
        open_onnx(folder)


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json", "sentence_bert_config.json"])
def test_a_damaged_file_is_said_with_its_folder(folder: Path, damaged: str) -> None:
    (folder / damaged).unlink(missing_ok=True)
    (folder / damaged).write_bytes(b"not what it was")
    with pytest.raises(SettingsError, match=r"AFTERTURN_EMBEDDER_MODEL: .*a-model"):
        open_onnx(folder)


def test_without_a_folder_the_variable_is_named(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"AFTERTURN_EMBEDDER_MODEL: .*folder"):
        open_onnx(folder, embedder_model=None)


def test_other_dimensions_than_the_models_are_refused_with_its_own(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"AFTERTURN_EMBEDDER_DIMENSIONS: .* 384 numbers, not 768; unset it"):
        open_onnx(folder, embedder_dimensions=768)


def test_a_model_that_nobody_measured_starts_only_with_thresholds_set_by_hand(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = open_onnx(folder)
    measured = {
        "SEMANTIC_AUTO_UPDATE": "0.85",
        "SEMANTIC_CHECK_LOW": "0.6",
        "EPISODIC_AUTO_UPDATE": "0.9",
        "EPISODIC_CHECK_LOW": "0.65",
    }
    for name in list(measured)[1:]:
        monkeypatch.setenv(name, measured[name])
    with pytest.raises(SettingsError, match=r"^SEMANTIC_AUTO_UPDATE: .*a-model-.* benchmarks\.calibrate"):
        policy_on_scale_of(embedder)

    monkeypatch.setenv("SEMANTIC_AUTO_UPDATE", "0.85")
    assert policy_on_scale_of(embedder).semantic_auto_update == 0.85
    monkeypatch.setenv("SEMANTIC_CHECK_LOW", "0.95")
    with pytest.raises(SettingsError, match="SEMANTIC_CHECK_LOW"):
        policy_on_scale_of(embedder)
