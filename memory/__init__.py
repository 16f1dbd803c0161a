"""What a memory is and where it is held."""
