"""`python -m interfaces.cli` is the `afterturn` command."""

from interfaces.cli.main import main

main()
