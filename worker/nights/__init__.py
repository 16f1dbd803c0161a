"""The nightly jobs: what a subject's memories become when nobody is talking."""
