"""Adapters, one folder a kind, one file each; third-party clients are imported in theirs alone."""
