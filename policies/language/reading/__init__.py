"""What a parsed sentence says: facts, values of attributes, and named things."""
