"""Where things are held: one folder a kind, one file an adapter; third-party clients are imported in theirs alone."""
