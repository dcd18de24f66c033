"""Synthesis of periodic walking steps by optimal control."""
