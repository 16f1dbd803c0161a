"""The parser of sentences, and what makes it fast."""
