"""Signals filtered and differentiated."""
