"""Privacy, of what must not be kept or obeyed: secrets, personal identifiers, planted instructions."""
