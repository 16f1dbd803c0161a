"""The faces: the `afterturn` command."""
