"""How good the pipeline's judgement is, on a folder of labelled data: `python -m benchmarks.quality`."""
