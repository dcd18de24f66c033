"""Distances between the capsules of a model and the obstacles of a scene."""
