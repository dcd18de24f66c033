"""Advancing time: contact geometry and laws, integrators, events, runs and rollouts."""

from homodyn.simulate.geometry import Gap, Scene, gap_distances
from homodyn.simulate.ground import Box, HeightField, Plane

__all__ = ["Box", "Gap", "HeightField", "Plane", "Scene", "gap_distances"]
