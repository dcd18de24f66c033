"""Geometry of paths: points, wrapping over surfaces, lengths and lines of action."""
