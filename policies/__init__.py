"""Our beliefs: pure functions over values. No I/O, no clock, no randomness: `now` is an argument."""
