"""What the pipeline makes of everyday talk, on a file of cases: `python -m benchmarks.everyday`."""
