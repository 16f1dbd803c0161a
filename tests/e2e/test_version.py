"""Which version is installed: the first thing that is asked of a command, and of whoever reports a fault."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.e2e.command import Home


@pytest.mark.parametrize("more", [(), ("status",)], ids=["alone", "before a command"])
def test_the_command_says_its_version_whatever_else_is_asked(tmp_path: Path, more: tuple[str, ...]) -> None:
    said = Home.at(tmp_path).say("--version", *more)
    assert (said.returncode, said.stdout, said.stderr) == (0, f"afterturn {version('afterturn')}\n", "")
