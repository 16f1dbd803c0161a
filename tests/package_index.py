"""What the tests take from the package index: left out where it does not answer, unless INDEX_REQUIRED says that it
does."""

from __future__ import annotations

import os
import subprocess
from typing import NoReturn

import pytest


def not_given(what: str, said: subprocess.CompletedProcess[str]) -> NoReturn:
    """Skip a test that asked the index and did not get what it wants; fail where INDEX_REQUIRED is set."""
    missing = f"the package index does not give {what}: {said.stderr[-300:]}"
    if os.environ.get("INDEX_REQUIRED"):
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
