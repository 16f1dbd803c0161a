"""Any sentence embedder on the CPU, from a folder with its ONNX model and its tokenizer.

Our own lines and not fastembed: it embeds in padded batches, in which a text's vector depends on its batch mates, and
brings a downloader and an image library for what is a matrix and a mean here.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np

# The library reports its use to its vendor unless told otherwise before it is loaded; nobody asked our users.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime
from tokenizers import Tokenizer

from schema import Thresholds
from schema.errors import SettingsError
from schema.settings import Settings, variable_of
from stores.embedding.base import TEXTS_QUEUED, Reading, Vectors, refuse_blank, unit
from stores.embedding.dynamic_batching import DynamicBatcher, Tokens

Pooling = Literal["mean", "cls"]
MAX_TOKENS = 256
"""Tokens that are read of a text where the folder does not say (`sentence_bert_config.json`): many sentence models were
trained on no more, and a summary has one or two sentences."""
_MODELS = ("model.onnx", "onnx/model.onnx")
_TRIAL = ("a", "What does she do for work?", "The user moved to Lisbon in May 2024, and wants a flat near the river.")
"""Texts by which it is tried whether a model makes the same of a text alone and among others."""
_SAME = 1e-6
"""How far apart numbers of the same vector may be: MiniLM's are the same to the last bit (2,000 texts)."""
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")


class OnnxEmbedder:
    """A model that answers a vector for each token.

    Callers wait in one queue, first come first served, before as many threads as there are cores (a plain lock let some
    of 64 callers wait 7 s, the median 4 ms); the model itself runs on one thread, for two cost 13% more CPU a sentence.
    Short texts that wait at the same moment go through it together (`DynamicBatcher`), unless the model makes another
    vector of a text by its company: that is tried when it is loaded. Open it after a fork, not before.

    Where the number of `dimensions` is known, the model is loaded with the first text: it takes half a second, and
    whoever only counts or erases needs none.
    """

    thresholds: Thresholds | None = None

    def __init__(
        self,
        model: bytes | str,
        tokenizer: str,
        *,
        name: str,
        pooling: Pooling = "mean",
        max_tokens: int = MAX_TOKENS,
        prefix: str = "",
        dimensions: int | None = None,
    ) -> None:
        """Load a model: `model` is the file's content or its path."""
        self.name = name
        self._prefix = prefix
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        # Room for what the tokenizer itself puts around a text, and for the prefix.
        around = len(self._tokenizer.encode(prefix).ids)
        self.reading = Reading(max_tokens - around, _Spans(tokenizer))
        self._load: Callable[[], _Model] | None = partial(_Model, model, pooling, [*map(self._tokens, _TRIAL)])
        self._loading = Lock()
        self._loaded: _Model | None = None
        cores = os.cpu_count() or 1
        self._batcher = DynamicBatcher(
            ThreadPoolExecutor(cores, thread_name_prefix="embed"), cores, lambda texts: self._model().vectors(texts)
        )
        self.dimensions = dimensions or len(self._batcher.vectors([self._tokens("a")])[0])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of the texts. Only the first tokens of a text count, as many as the model was made for.

        Raises:
            ValueError: a text is empty or blank, or is no Unicode text (a lone surrogate).
        """
        refuse_blank(texts)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_QUEUED):
            part = [self._tokens(text) for text in texts[start : start + TEXTS_QUEUED]]
            for row, vector in enumerate(self._batcher.vectors(part), start):
                vectors[row] = unit(vector, self.dimensions)
        return vectors

    def _tokens(self, text: str) -> Tokens:
        tokens: Tokens = self._tokenizer.encode(self._prefix + text).ids
        return tokens

    def _model(self) -> _Model:
        with self._loading:
            if self._load:
                # Not kept any longer: it holds the file's content, tens of megabytes.
                self._loaded, self._load = self._load(), None
            assert self._loaded is not None
            return self._loaded


class _Spans:
    """Places of the tokens of a text of any length."""

    def __init__(self, tokenizer: str) -> None:
        self._load = partial(Tokenizer.from_str, tokenizer)
        self._loading = Lock()
        self._loaded: Tokenizer | None = None

    def __call__(self, text: str) -> list[tuple[int, int]]:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
                self._loaded.no_padding()
                self._loaded.no_truncation()
        spans: list[tuple[int, int]] = self._loaded.encode(text, add_special_tokens=False).offsets
        return spans


class _Model:
    """The loaded model: from the tokens of texts to a vector each."""

    def __init__(self, model: bytes | str, pooling: Pooling, trial: Sequence[Tokens]) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._output = self._token_output()
        self._pooling = pooling
        is_made_for_many = all(isinstance(given.shape[0], str) for given in self._session.get_inputs())
        masks = "attention_mask" in self._inputs
        self._takes_many = is_made_for_many and masks and self._is_indifferent_to_company(trial)

    def vectors(self, texts: Sequence[Tokens]) -> list[Vectors]:
        """Return the vectors of texts, not yet of unit length."""
        if self._takes_many:
            return self._pass(texts)
        return [vector for text in texts for vector in self._pass([text])]

    def _pass(self, texts: Sequence[Tokens]) -> list[Vectors]:
        ids = np.zeros((len(texts), max(map(len, texts))), dtype=np.int64)
        is_read = np.zeros_like(ids)
        for row, tokens in enumerate(texts):
            ids[row, : len(tokens)] = tokens
            is_read[row, : len(tokens)] = 1
        given = {"input_ids": ids, "attention_mask": is_read, "token_type_ids": np.zeros_like(ids)}
        inputs = {name: array for name, array in given.items() if name in self._inputs}
        made: Vectors = self._session.run([self._output], inputs)[0]
        if self._pooling == "cls":
            return list(made[:, 0].astype(np.float32))
        return [
            vectors[: len(tokens)].mean(axis=0).astype(np.float32) for vectors, tokens in zip(made, texts, strict=True)
        ]

    def _is_indifferent_to_company(self, trial: Sequence[Tokens]) -> bool:
        """Return whether the texts of a trial have the same vectors together as alone. A model that rounds numbers by
        the largest of a pass makes others (dynamic int8: cosines of .95 to .99), and so does one that heeds padding."""
        alone = [vector for text in trial for vector in self._pass([text])]
        return bool(np.allclose(self._pass(trial), alone, rtol=0, atol=_SAME))

    def _token_output(self) -> str:
        outputs = [output.name for output in self._session.get_outputs() if len(output.shape) == 3]
        named = [name for name in _TOKEN_OUTPUTS if name in outputs]
        if not (named or outputs):
            raise SettingsError(
                f"{variable_of('embedder_model')}: the model makes no vectors of tokens, so it is no embedder"
            )
        return (named or outputs)[0]


def open_onnx(settings: Settings) -> OnnxEmbedder:
    """Return the model in the folder that the settings name.

    Its name holds a digest of its files and of how it is used, so that another model in the same folder is another
    embedder for the index.

    Raises:
        SettingsError: a file is missing or is none of its kind, or the model cannot be used as the settings ask.
    """
    variable = variable_of("embedder_model")
    if not settings.embedder_model:
        raise SettingsError(f"{variable}: with {variable_of('embedder')}=onnx it names the folder of a model")
    folder = Path(settings.embedder_model).expanduser().absolute()
    model = next((folder / name for name in _MODELS if (folder / name).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        missing = "tokenizer.json" if model else " or ".join(_MODELS)
        raise SettingsError(f"{variable}: {folder} has no {missing}; export the model with its tokenizer to ONNX")
    pooling = settings.embedder_pooling or _pooling_of(folder)
    used = f"{pooling}\n{settings.embedder_prefix}".encode()
    digest = _digest(model, Path(f"{model}_data"), tokenizer, extra=used)
    try:
        embedder = OnnxEmbedder(
            str(model),
            tokenizer.read_text(encoding="utf-8"),
            name=f"{folder.name}-{digest}",
            pooling=pooling,
            max_tokens=_json(folder / "sentence_bert_config.json").get("max_seq_length") or MAX_TOKENS,
            prefix=settings.embedder_prefix,
        )
    except SettingsError:
        raise
    except Exception as error:  # Both libraries raise bare classes of their own, and the cause is always a file.
        raise SettingsError(f"{variable}: the model in {folder} cannot be opened: {error}") from error
    wanted = settings.embedder_dimensions
    if wanted not in {None, embedder.dimensions}:
        raise SettingsError(
            f"{variable_of('embedder_dimensions')}: the model in {folder} makes vectors of {embedder.dimensions} "
            f"numbers, not {wanted}; unset it"
        )
    return embedder


def _pooling_of(folder: Path) -> Pooling:
    """Return how the folder says that vectors of tokens become one (as sentence-transformers writes it); the mean if it
    does not."""
    modes = {
        name
        for name, chosen in _json(folder / "1_Pooling" / "config.json").items()
        if name.startswith("pooling_mode_") and chosen
    }
    if not modes or modes == {"pooling_mode_mean_tokens"}:
        return "mean"
    if modes == {"pooling_mode_cls_token"}:
        return "cls"
    raise SettingsError(
        f"{variable_of('embedder_model')}: {folder} asks for {', '.join(sorted(modes))}; only the mean and the first "
        "token (cls) can be taken"
    )


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SettingsError(f"{variable_of('embedder_model')}: {path} is no JSON") from error
    return content if isinstance(content, dict) else {}


def _digest(*files: Path, extra: bytes) -> str:
    digest = hashlib.sha256(extra)
    for path in files:
        if path.is_file():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]
