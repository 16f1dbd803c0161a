"""Erasure of memories, turns, conversations and whole subjects: everywhere, with a proof."""
