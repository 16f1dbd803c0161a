"""Coverage-guided fuzzing of what reads whatever people type: `make fuzz SECONDS=60`."""
