"""A chat backend that only enqueues installs the base: `producers` imports nothing of what the extras bring."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NAMES = "import json, sys, producers; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
BROUGHT_BY_EXTRAS = {
    *("alembic", "cachetools", "celery", "flower", "numpy", "onnxruntime", "phonenumbers", "redbeat", "rich", "spacy"),
    *("sqlalchemy", "stdnum", "structlog", "tenacity", "threadpoolctl", "tokenizers", "typer", "vaderSentiment"),
    *("boto3", "fastapi", "httpx", "jinja2", "mcp", "psycopg", "qdrant_client", "uvicorn", "weaviate"),
}


def test_enqueuing_imports_nothing_that_only_an_extra_brings() -> None:
    said = subprocess.run([sys.executable, "-c", _NAMES], cwd=ROOT, capture_output=True, text=True, check=True)
    imported = set(json.loads(said.stdout))
    assert "kombu" in imported
    assert imported & BROUGHT_BY_EXTRAS == set()


def test_every_shipped_package_says_that_it_is_typed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [name for name in shipped if not (ROOT / name / "py.typed").is_file()] == []
