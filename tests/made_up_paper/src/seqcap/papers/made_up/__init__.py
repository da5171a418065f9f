"""A paper that does not exist."""
