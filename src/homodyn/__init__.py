"""Homodyn: human and humanoid movement, from one text of mechanics."""

__version__ = "0.1.0"
