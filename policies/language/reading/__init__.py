"""Readings of a parsed sentence: facts, values of attributes, and named things."""
