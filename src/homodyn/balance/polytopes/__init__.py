"""Polytopes."""
