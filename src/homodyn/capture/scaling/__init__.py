"""A model made to one person."""
