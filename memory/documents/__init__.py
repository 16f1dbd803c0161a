"""Everything that is done with documents: put, make searchable, delete, decide on."""
