"""Whole-body control: accelerations, torques and contact forces in one quadratic program."""
