"""Faults of muscle paths in given states, each as a sentence that names muscle and frame."""

from __future__ import annotations

from enum import StrEnum

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import enumerate_names
from homodyn.model import Model
from homodyn.model.muscles import Muscle, WrapObject
from homodyn.model.state_function import state_function
from homodyn.muscle.geometry.path_lines import moment_arm_entries
from homodyn.muscle.geometry.path_nodes import PathFrames
from homodyn.muscle.geometry.selects import select
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.paths import lengths, traced_paths
from homodyn.spatial import Array, ArrayInput, ParameterValues

SHORTEST_PATH_M = 1e-6
"""Paths that are shorter have no direction."""
DEPTH_TOLERANCE_M = 1e-6
"""Points on a surface are not inside."""
FAR_OUTSIDE_M = -1e3
"""Depth of points of muscles without wrap objects."""


class PathFaultKind(StrEnum):
    """What is wrong with a path."""

    ZERO_LENGTH = "zero length"
    INSIDE_WRAP = "point inside a wrap object"
    SLACK_TENDON = "tendon longer than the path"
    NOT_MOVED = "moved by no coordinate"


@record
class PathFault(Record):
    """A fault of the path of a muscle."""

    kind: PathFaultKind
    muscle: str
    frame: int
    """Index of the first state with the fault; -1 where it does not depend on the state."""
    frames: int
    """Number of states with the fault."""
    sentence: str

    def headline(self) -> str:
        """The sentence."""
        return self.sentence


@state_function(q="nq", returns={"depths": lambda model, *a, **k: (len(model.muscles),)})
def point_depths(
    model: Model,
    q: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """How deep the deepest point of each muscle lies inside a wrap object of the muscle.

    Args:
        model: The model.
        q: Positions, (..., nq).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., muscles), m; negative outside.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    frames = PathFrames(Tree(model, q))
    return ca.vertcat(*[_deepest(frames, muscle) for muscle in model.muscles])


def find_path_faults(
    model: Model, q: ArrayInput, *, wrapping: str = OPENSIM
) -> tuple[PathFault, ...]:
    """Faults of the paths of all muscles in given states.

    A path without length has no direction, so its force has none. A segment with an end inside a
    wrap object does not wrap. A tendon that is longer than its path is slack: with a rigid tendon
    the fibers have no length. A muscle that no coordinate moves has no effect.

    Args:
        model: The model.
        q: Positions, (..., nq).
        wrapping: ``"opensim"`` or ``"geodesic"``; see `homodyn.muscle.lengths`.

    Returns:
        One fault per muscle and kind, with its first frame; empty where there is none.

    Raises:
        ModelError: The model has no muscles.
        KernelError: An array has the wrong shape or type.
    """
    states = np.asarray(q, dtype=float).reshape(-1, model.nq)
    length = lengths(model, states, wrapping)
    depth = point_depths(model, states)
    frames, paths = traced_paths(model, ca.SX.sym("q", model.nq), wrapping, "muscles")
    found = []
    for k, muscle in enumerate(model.muscles):
        slack = float(muscle.tendon_slack_length)
        if not moment_arm_entries(frames, paths[k]):
            found.append(_fault(PathFaultKind.NOT_MOVED, muscle, None, _unmoved_sentence(muscle)))
        cases = (
            (PathFaultKind.ZERO_LENGTH, length[:, k] < SHORTEST_PATH_M, "has no length"),
            (
                PathFaultKind.INSIDE_WRAP,
                depth[:, k] > DEPTH_TOLERANCE_M,
                "has a point inside a wrap object, where it does not wrap",
            ),
            (
                PathFaultKind.SLACK_TENDON,
                length[:, k] <= slack,
                f"is not longer than its tendon of {1e3 * slack:.1f} mm",
            ),
        )
        for kind, wrong, words in cases:
            if wrong.any():
                found.append(
                    _fault(kind, muscle, wrong, f"the path of muscle {muscle.name!r} {words}")
                )
    return tuple(found)


def check_moved(model: Model, wrapping: str) -> None:
    """Refuse muscles that no coordinate moves.

    Args:
        model: The model.
        wrapping: ``"opensim"`` or ``"geodesic"``.

    Raises:
        ModelError: No coordinate moves a muscle; the message names it and its bodies.
    """
    frames, paths = traced_paths(model, ca.SX.sym("q", model.nq), wrapping, "muscles")
    for muscle, path in zip(model.muscles, paths, strict=True):
        if not moment_arm_entries(frames, path):
            raise ModelError(_unmoved_sentence(muscle))


def _unmoved_sentence(muscle: Muscle) -> str:
    bodies = sorted({point.body for point in muscle.points})
    return (
        f"muscle {muscle.name!r}: no coordinate moves it; its points are in "
        f"{', '.join(bodies)}, which do not move against each other"
    )


def _fault(
    kind: PathFaultKind, muscle: Muscle, wrong: np.ndarray | None, sentence: str
) -> PathFault:
    if wrong is None:
        return PathFault(kind, muscle.name, -1, 0, sentence)
    first, count = int(np.argmax(wrong)), int(wrong.sum())
    where = f"in frame {first}" if count == 1 else f"in {count} frames, first in frame {first}"
    return PathFault(kind, muscle.name, first, count, f"{sentence} ({where})")


def path_fault_sentence(faults: tuple[PathFault, ...]) -> str:
    """All faults in one sentence.

    Args:
        faults: What `find_path_faults` returned.

    Returns:
        The sentence without a full stop.
    """
    if not faults:
        return "no path of a muscle has a fault"
    return enumerate_names([fault.sentence for fault in faults])


def _deepest(frames: PathFrames, muscle: Muscle) -> Array:
    deepest: Array = ca.SX(FAR_OUTSIDE_M)
    nodes = frames.nodes(muscle.points)
    for use in muscle.wraps:
        wrap = frames.wraps[use.wrap]
        if not wrap.active:
            continue
        first, last = max(use.first, 1), use.last if use.last > 0 else len(nodes)
        for node in nodes[first - 1 : last]:
            assert node.end is not None  # every point of a path is an end
            depth = _depth(wrap, frames.to_wrap(wrap, node.end))
            deepest = ca.fmax(deepest, select(node.active, depth, FAR_OUTSIDE_M))
    return deepest


def _depth(wrap: WrapObject, p: Array) -> Array:
    """Depth of a point in the frame of a wrap object; of an ellipsoid, along its smallest axis."""
    size = wrap.dimensions
    if wrap.kind == "sphere":
        return size[0] - ca.norm_2(p)
    if wrap.kind == "cylinder":
        return ca.fmin(size[0] - ca.sqrt(p[0] ** 2 + p[1] ** 2), size[1] / 2 - ca.fabs(p[2]))
    if wrap.kind == "ellipsoid":
        relative = ca.sqrt(sum((p[k] / size[k]) ** 2 for k in range(3)))
        return (1 - relative) * ca.fmin(size[0], ca.fmin(size[1], size[2]))
    ring, tube = (size[0] + size[1]) / 2, (size[1] - size[0]) / 2
    across = ca.sqrt(p[0] ** 2 + p[1] ** 2) - ring
    return tube - ca.sqrt(across**2 + p[2] ** 2)
