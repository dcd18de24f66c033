"""Surfaces of bodies from the mesh files that a model names, where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model import WORLD, Model
from homodyn.model.formats.surface_files import find_surface_file, read_surface
from homodyn.report.posed_geometry import body_sides

MIN_CELL_SHARE, CELL_GROWTH = 1 / 64, 1.25
"""Cells of a simplified surface: the first is this share of its size, each next one larger by the
factor."""


@dataclass(frozen=True, eq=False)
class BoneSurface:
    """A surface in the axes of its body."""

    body: str
    side: str
    """``"left"``, ``"right"`` or ``"middle"``."""
    vertices: np.ndarray
    """(n, 3), m."""
    triangles: np.ndarray
    """(m, 3): indices of vertices."""


@dataclass(frozen=True, eq=False)
class BoneSurfaces:
    """The surfaces of a model, and what could not be drawn."""

    surfaces: tuple[BoneSurface, ...]
    missing: tuple[str, ...]
    """Files that are not at hand."""
    faults: tuple[str, ...]
    """What is wrong with files, one sentence each."""

    def sentences(self) -> tuple[str, ...]:
        """What is not drawn, for notes; none where no file was found at all."""
        if not self.surfaces and not self.faults:
            return ()
        notes = [f"not drawn: {fault}" for fault in self.faults]
        if self.missing:
            notes.append(
                f"{count_of(len(self.missing), 'bone surface')} not found: "
                f"{enumerate_names(self.missing)}"
            )
        return tuple(notes)


def bone_surfaces(model: Model) -> BoneSurfaces:
    """Read the surfaces of the bodies of a model.

    Args:
        model: A model that was read from a file.
    """
    # The folders are not part of what distinguishes models.
    return _bone_surfaces(model, tuple(mesh.folder for mesh in model.meshes))


@lru_cache(maxsize=8)
def _bone_surfaces(model: Model, folders: tuple[str, ...]) -> BoneSurfaces:
    own = model.at(model.parameter_values) if model.parameters else model
    sides = body_sides(own)
    surfaces, missing, faults = [], [], []
    for mesh, folder in zip(own.meshes, folders, strict=True):
        if mesh.body == WORLD:
            continue
        path = find_surface_file(replace(mesh, folder=folder))
        if path is None:
            missing.append(mesh.file)
            continue
        try:
            vertices, triangles = read_surface(path)
        except FormatError as error:
            faults.append(str(error))
            continue
        place = mesh.placement
        points = (vertices * np.asarray(mesh.scale, dtype=float)) @ np.asarray(place.E)
        points = points + np.asarray(place.r, dtype=float).reshape(3)
        surfaces.append(BoneSurface(mesh.body, sides[mesh.body], points, triangles))
    return BoneSurfaces(tuple(surfaces), tuple(dict.fromkeys(missing)), tuple(faults))


def simplify_surface(surface: BoneSurface, max_triangles: int) -> BoneSurface:
    """A surface with fewer triangles: vertices within a cell become their mean.

    Args:
        surface: The surface.
        max_triangles: Largest number of triangles.

    Returns:
        The surface itself if it is small enough.
    """
    if len(surface.triangles) <= max_triangles:
        return surface
    low = surface.vertices.min(axis=0)
    cell = MIN_CELL_SHARE * float(np.ptp(surface.vertices, axis=0).max())
    while True:
        cells = np.floor((surface.vertices - low) / cell).astype(int)
        _, group = np.unique(cells, axis=0, return_inverse=True)
        corners = group.reshape(-1)[surface.triangles]
        distinct = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
        _, first = np.unique(np.sort(corners[distinct], axis=1), axis=0, return_index=True)
        triangles = corners[distinct][np.sort(first)]
        if len(triangles) <= max_triangles:
            break
        cell *= CELL_GROWTH
    count = np.bincount(group.reshape(-1)).astype(float)
    columns = [np.bincount(group.reshape(-1), x) / count for x in surface.vertices.T]
    return replace(surface, vertices=np.column_stack(columns), triangles=triangles)
