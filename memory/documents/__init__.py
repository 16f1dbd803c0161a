"""What can be done with documents: put, make searchable, delete, decide on."""
