"""Measurements: `python -m benchmarks.NAME --help` says what each one measures."""
