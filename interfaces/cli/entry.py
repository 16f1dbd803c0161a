"""The installed `afterturn` script: the command, or how to install what it needs."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_TYPER, _CATALOG = "typer", "sqlalchemy"


def main() -> None:
    """Run the command; where only what `producers` needs is installed, say what is missing and exit with 2."""
    if not (find_spec(_TYPER) and find_spec(_CATALOG)):
        sys.stderr.write(
            "afterturn: this installation can enqueue turns and no more; for the command: "
            "pip install 'afterturn[fleet,local,service]'\n"
        )
        sys.exit(2)
    from interfaces.cli.main import main as command

    command()
