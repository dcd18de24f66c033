"""Geometry of contacts: signed distances of obstacles, gaps, and the distances of whole models."""

from homodyn.simulate.geometry.contact_geometry import (
    ContactGeometry,
    SceneArgument,
    gap_distances,
    place_on_ground,
    scene_geometry,
)
from homodyn.simulate.geometry.distance_fields import Surface, level_ground, signed_distance
from homodyn.simulate.geometry.gap import Gap, gap_velocity, material_velocity, surface_speeds

__all__ = [
    "ContactGeometry",
    "Gap",
    "SceneArgument",
    "Surface",
    "gap_distances",
    "gap_velocity",
    "level_ground",
    "material_velocity",
    "place_on_ground",
    "scene_geometry",
    "signed_distance",
    "surface_speeds",
]
