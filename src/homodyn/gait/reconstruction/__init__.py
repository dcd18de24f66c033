"""Reconstruction of recorded steps by optimal control."""
