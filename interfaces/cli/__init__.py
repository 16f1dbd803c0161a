"""The `afterturn` command."""
