"""Clients that others' generators make of the OpenAPI document compile, and work against the service."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from tests.e2e.service import Served
from tests.npm import installed, node_of
from tests.package_index import not_given

pytestmark = pytest.mark.long
GENERATOR: Final = "openapi-python-client==0.29.0"
LEFT_OUT: Final = ["GET /api/v1/subjects/{subject_id}/export"]
"""What the generator for Python does not read: an answer of one JSON document a line comes as bytes."""
NAME: Final = "afterturn_generated"
TYPED: Final = """
import type { operations, paths } from "./api";

declare const process: { env: Record<string, string> };

export async function remember(url: string, key: string, content: string): Promise<string> {
  const body: paths["/api/v1/memories/"]["post"]["requestBody"]["content"]["application/json"] = { content };
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const answer = await fetch(`${url}/api/v1/memories/`, { method: "POST", headers, body: JSON.stringify(body) });
  const made: operations["memories_create"]["responses"][201]["content"]["application/json"] = await answer.json();
  return made.memory?.content ?? made.outcome;
}
console.log(await remember(process.env.AFTERTURN_URL, process.env.AFTERTURN_API_KEY, "Anna plays the violin."));
"""


@pytest.fixture(scope="module")
def document(service: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document as the service gives it."""
    file = tmp_path_factory.mktemp("openapi") / "openapi.json"
    with service.client() as client:
        file.write_text(client.get("/openapi.json").text)
    return file


@pytest.fixture(scope="module")
def generated(document: Path) -> ModuleType:
    """The package that openapi-python-client makes."""
    uvx, folder = Path(sys.executable).with_name("uvx"), document.parent
    command = [str(uvx), "--quiet", "--from", GENERATOR, "openapi-python-client"]
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    if said.returncode:
        not_given(GENERATOR, said)
    options = ["--path", str(document), "--meta", "none", "--output-path", str(folder / NAME)]
    said = subprocess.run([*command, "generate", *options], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert re.findall(r"^WARNING parsing (.*) within", said.stderr, re.M) == LEFT_OUT
    sys.path.insert(0, str(folder))
    return importlib.import_module(NAME)


def test_every_module_of_the_python_client_can_be_imported_and_every_operation_is_there(
    generated: ModuleType, document: Path
) -> None:
    names = [module.name for module in pkgutil.walk_packages(generated.__path__, f"{NAME}.")]
    for name in names:
        importlib.import_module(name)
    paths: dict[str, dict[str, Any]] = json.loads(document.read_text())["paths"]
    operations = {operation["operationId"] for path in paths.values() for operation in path.values()}
    assert operations - {name.rsplit(".", 1)[1] for name in names} == set()


def test_the_python_client_remembers_finds_and_is_told_what_is_wrong(
    generated: ModuleType, service: Served, user: str
) -> None:
    def api(name: str) -> Any:
        return importlib.import_module(f"{NAME}.api.{name}")

    models: Any = importlib.import_module(f"{NAME}.models")
    client = generated.AuthenticatedClient(
        service.url, service.key(user=user), prefix="", auth_header_name="X-API-Key", raise_on_unexpected_status=True
    )
    made = api("memories.memories_create").sync(client=client, body=models.MemoryIn(content="Anna plays the violin."))
    found = api("memories.memories_search").sync(client=client, query="Which instrument does Anna play?")
    assert [hit.content for hit in found] == ["Anna plays the violin."]
    assert found[0].memory_id == made.memory.memory_id
    message = models.Message(role=models.MessageRole.USER, content="I moved to Porto.")
    turn = models.TurnIn(conversation_id="c", messages=[message], turn_id="t1")
    assert api("turns.turns_put_turn").sync(client=client, body=turn).turn_id == "t1"
    missing = api("memories.memories_read").sync(memory_id=uuid.uuid4(), client=client)
    assert (type(missing).__name__, missing.status) == ("Problem", 404)


def test_the_types_for_typescript_compile_strictly_and_a_program_with_them_works(
    document: Path, service: Served, user: str, tmp_path: Path
) -> None:
    packages = installed(tmp_path)
    node = node_of(packages)

    def run(*arguments: str, **more: str) -> str:
        said = subprocess.run([node, *arguments], cwd=tmp_path, env=more, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stdout + said.stderr
        return said.stdout

    shutil.copy(document, tmp_path)
    # A field with a default may be left out of what is sent.
    generator, how = packages / "openapi-typescript" / "bin" / "cli.js", ("--default-non-nullable", "false")
    run(str(generator), "openapi.json", *how, "-o", "api.ts")
    (tmp_path / "remember.mts").write_text(TYPED)
    options = ["--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"]
    run(str(packages / "typescript" / "bin" / "tsc"), *options, "--lib", "es2022,dom", "remember.mts")
    assert run("remember.mjs", AFTERTURN_URL=service.url, AFTERTURN_API_KEY=service.key(user=user)) == (
        "Anna plays the violin.\n"
    )
