"""Everything that is done with memories: remember, forget, hold, prefer, review, export, import, reindex."""
