"""Which segments and coordinates of a fitted motion the recording shows.

A segment is seen when no movement that leaves all visible markers in place moves it noticeably:
with N a basis of the null space of the marker Jacobian and J_p the Jacobian of a point of the
segment, the largest singular value of J_p N is the displacement of the point per unit (rad, m) of
such a movement. Events, gait measures, loads, curves and verdicts all use this one criterion.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.capture.kinematics.observability import (
    RANK_TOLERANCE,
    generic_poses,
    marker_jacobian,
)
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import enumerate_names
from homodyn.model import Marker, Model
from homodyn.motion.motion import Motion

MAX_FREE_DISPLACEMENT_M = 0.05
"""Displacement (m) per unit of a movement that no marker shows, up to which a point is seen."""
ROOT_LEVER_M = 0.1
"""Distance (m) from the origin of the root at which its rotation is judged."""


MAX_UNSEEN_MASS_SHARE = 0.1
"""Share of the body mass that may be unseen in results of the whole body. Hands and neck, which
most marker sets leave out, have 3 % (de Leva 1996, J. Biomech. 29:1223)."""


class UnseenSegments(CaptureError):
    """A result needs segments that no marker of the recording shows."""


@record(eq=True)
class SeenSegments(Record):
    """Bodies and coordinates that the visible markers of a recording determine."""

    unseen_bodies: tuple[str, ...]
    """Bodies whose position or direction no marker determines."""
    hidden_coordinates: tuple[str, ...]
    """Coordinates without a result: unobserved ones, and those that the model locks."""
    unseen_mass_share: float
    """Share of the body mass in unseen bodies, 0 to 1."""

    def headline(self) -> str:
        """Number of unseen bodies and their share of the mass."""
        return (
            f"SeenSegments: {len(self.unseen_bodies)} unseen bodies with "
            f"{100 * self.unseen_mass_share:.0f} % of the mass"
        )


def seen_segments(motion: Motion) -> SeenSegments:
    """The segments of a motion that its recording shows.

    A motion that was not fitted to markers (simulated, optimized, read from a table) shows all.

    Args:
        motion: Any motion.

    Returns:
        Unseen bodies and coordinates without a result.
    """
    model = motion.model
    locked = tuple(c.name for c in model.coordinates if c.locked)
    hidden = tuple(dict.fromkeys((*motion.unobserved, *locked)))
    if not motion.unobserved or not motion.markers:
        return SeenSegments((), hidden, 0.0)
    unseen = tuple(
        name for name, size in _free_displacements(motion).items() if size > MAX_FREE_DISPLACEMENT_M
    )
    mass = sum(model.body(name).mass for name in unseen)
    return SeenSegments(unseen, hidden, float(mass / model.mass) if model.mass > 0 else 0.0)


def require_seen(motion: Motion, bodies: tuple[str, ...], purpose: str) -> None:
    """Refuse a motion whose recording does not show the bodies that a result needs.

    Args:
        motion: Any motion.
        bodies: Names of the bodies.
        purpose: What needs them, as the subject of a sentence, such as ``"gait events"``.

    Raises:
        UnseenSegments: No marker shows one of the bodies; the message says what is needed.
    """
    if not motion.unobserved:
        return
    unseen = seen_segments(motion).unseen_bodies
    lacking = [name for name in dict.fromkeys(bodies) if name in unseen]
    if lacking:
        carried = {
            name: [m.name for m in motion.model.markers if m.body == name] for name in lacking
        }
        known = "; ".join(
            f"{name}: {enumerate_names(markers, 6)}" for name, markers in carried.items() if markers
        )
        hint = f" (markers of the model there: {known})" if known else ""
        raise UnseenSegments(
            f"{purpose} cannot be computed: no marker of the recording shows "
            f"{enumerate_names(lacking, 8)}; record markers on these segments{hint}"
        )


def _free_displacements(motion: Motion) -> dict[str, float]:
    """By body, the largest displacement (m) of its points; the smallest of all poses.

    What one of the poses shows is determined, though another may hide it.
    """
    model = motion.model
    visible = np.isfinite(motion.measured).all(-1).any(0)
    if motion.weights.size:
        visible = visible & (motion.weights > 0)
    seen = {name for name, shown in zip(motion.markers, visible, strict=True) if shown}
    probes = _body_points(model)
    shown = [marker for marker in model.markers if marker.name in seen]
    probed = replace(model, markers=(*shown, *probes))
    movable = np.array([not c.locked for c in model.coordinates], dtype=bool)
    poses = generic_poses(model)
    tables = np.asarray(marker_jacobian(probed, poses)).reshape(len(poses), -1, 3, model.nv)
    sizes = np.zeros((len(poses), len(probes)))
    for k, table in enumerate(tables[..., movable]):
        J = table[: len(shown)].reshape(-1, int(movable.sum()))
        values, vectors = np.linalg.eigh(J.T @ J)
        free = vectors[:, values < RANK_TOLERANCE * max(float(values[-1]), RANK_TOLERANCE)]
        if free.shape[1]:
            sizes[k] = np.linalg.norm(table[len(shown) :] @ free, ord=2, axis=(1, 2))
    found: dict[str, float] = {}
    for probe, size in zip(probes, sizes.min(axis=0), strict=True):
        found[probe.body] = max(found.get(probe.body, 0.0), float(size))
    return found


def _body_points(model: Model) -> list[Marker]:
    """Points of each body: its origin, its far end beyond the center of mass; axes of the root."""
    points = []
    for body, parent in zip(model.body_names, model.parents, strict=True):
        places = [np.zeros(3), 2 * np.asarray(model.body(body).com, dtype=float)]
        if parent < 0:
            places += list(ROOT_LEVER_M * np.eye(3))
        points += [Marker(f"{body} point {k}", body, place) for k, place in enumerate(places)]
    return points
