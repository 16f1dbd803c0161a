"""The `afterturn` command."""

from interfaces.cli.main import main

__all__ = ["main"]
