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
from homodyn.simulate.geometry.mesh_planes import MeshQueries, bind_meshes, mesh_obstacles

__all__ = [
    "ContactGeometry",
    "Gap",
    "MeshQueries",
    "SceneArgument",
    "Surface",
    "bind_meshes",
    "gap_distances",
    "gap_velocity",
    "level_ground",
    "material_velocity",
    "mesh_obstacles",
    "place_on_ground",
    "scene_geometry",
    "signed_distance",
    "surface_speeds",
]
