"""The fleet: what happens to a turn after it was enqueued."""
