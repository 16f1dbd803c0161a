"""`python -m interfaces.cli` is the `afterturn` command."""

from interfaces.cli import main

main()
