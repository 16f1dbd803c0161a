"""The embedders under test. An adapter is one more line in `ADAPTERS`.

Those that ask an endpoint ask one on this machine, which speaks the vendor's protocol and makes its vectors with
MiniLM, in other lengths and dimensions.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from openai.types import CreateEmbeddingResponse, EmbeddingCreateParams
from pydantic import TypeAdapter

from schema.settings import Settings
from stores.embedding import Embedder, open_embedder
from stores.embedding.minilm import MiniLM, model_path, tokenizer_path
from stores.embedding.multilingual import MultilingualE5
from tests.contract.loopback import Answer, Loopback, Request

TIMEOUT = 60.0
OWN_DIMENSIONS = 384


@cache
def minilm() -> MiniLM:
    return MiniLM()


@lru_cache(maxsize=1000)
def numbers(text: str, dimensions: int) -> list[float]:
    """A vector of any dimensions and of length 3, as near to others as MiniLM finds the texts."""
    vector = np.zeros(dimensions, dtype=np.float32)
    own = minilm().embed([text])[0][:dimensions]
    vector[: len(own)] = own
    return [float(number) * 3 for number in vector]


def bedrock(request: Request) -> Answer:
    """Titan V2, as Bedrock's guide describes its request and response."""
    assert request.path == "/model/amazon.titan-embed-text-v2%3A0/invoke"
    assert set(request.body) <= {"inputText", "dimensions", "normalize", "embeddingTypes"}
    assert request.body["dimensions"] in {256, 512, 1024}
    text = request.body["inputText"]
    if len(text) > 50_000:
        return Answer(400, {"message": "too long"}, {"x-amzn-ErrorType": "ValidationException"})
    vector = numbers(text, request.body["dimensions"])
    return Answer(body={"embedding": vector, "inputTextTokenCount": 7})


@cache
def _request() -> TypeAdapter[Any]:
    return TypeAdapter(EmbeddingCreateParams)


def openai(request: Request) -> Answer:
    """A model of 384 numbers that can be asked for fewer, in any order."""
    assert request.path == "/v1/embeddings"
    assert set(request.body) <= set(EmbeddingCreateParams.__annotations__)
    _request().validate_python(request.body)
    dimensions = request.body.get("dimensions", OWN_DIMENSIONS)
    texts = request.body["input"]
    assert all(0 < len(text) <= 30_000 for text in texts)
    data = [
        {"object": "embedding", "index": place, "embedding": numbers(text, dimensions)}
        for place, text in enumerate(texts)
    ]
    answer = {"object": "list", "model": "m", "data": data[::-1], "usage": {"prompt_tokens": 3, "total_tokens": 3}}
    return Answer(body=CreateEmbeddingResponse.model_validate(answer).model_dump(mode="json"))


def onnx_folder(folder: Path) -> Path:
    """A folder with a model and its tokenizer, as exports have them."""
    folder.mkdir(parents=True, exist_ok=True)
    for source, name in ((model_path(), "model.onnx"), (tokenizer_path(), "tokenizer.json")):
        assert source is not None
        shutil.copy(source, folder / name)
    return folder


def _open(settings: dict[str, Any]) -> Embedder:
    return open_embedder(Settings.model_validate({"embedder_timeout_seconds": TIMEOUT} | settings))


def open_bedrock(server: Loopback, **settings: Any) -> Embedder:
    server.answer = bedrock
    return _open({"embedder": "bedrock", "aws_region": "eu-central-1"} | settings)


def open_openai(server: Loopback, **settings: Any) -> Embedder:
    server.answer = openai
    given = {"embedder_model": "m", "embedder_dimensions": OWN_DIMENSIONS, "embedder_url": f"{server.url}/v1"}
    return _open({"embedder": "openai"} | given | settings)


def open_onnx(folder: Path, **settings: Any) -> Embedder:
    return _open({"embedder": "onnx", "embedder_model": str(folder)} | settings)


ADAPTERS: dict[str, Callable[[Loopback, Path], Embedder]] = {
    "minilm": lambda _server, _folder: MiniLM(),
    "multilingual": lambda _server, _folder: MultilingualE5(),
    "onnx": lambda _server, folder: open_onnx(onnx_folder(folder / "a-model")),
    "bedrock": lambda server, _folder: open_bedrock(server),
    "openai": lambda server, _folder: open_openai(server, embedder_dimensions=128),
}
