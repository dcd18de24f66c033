"""Balance of motions and scenes: margins over time, and the static polygon at an instant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.balance import (
    BalanceEvaluation,
    ContactPatch,
    Scene,
    Stance,
    detect_contacts,
    evaluate,
    scene_phases,
    scene_wrench,
    static_equilibrium_polygon,
)
from homodyn.balance.support_areas import GroundAxes
from homodyn.capture import Trial
from homodyn.errors import HomodynError, NoSolution
from homodyn.motion import (
    ForcePlate,
    Motion,
)
from homodyn.report.posed_geometry import convex_outline
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument, nearest_frame

PATH_SEGMENTS = 200
"""Line segments of a drawn path."""
PATH_SAMPLES = 401
"""Instants at which the path of a scene is evaluated."""


@dataclass(frozen=True, eq=False)
class BalanceScene:
    """An opened scene of supports and its name."""

    name: str
    scene: Scene


@dataclass(frozen=True, eq=False)
class BalanceResult:
    """A balance evaluation, its owner, and the rotation from its world to the scene axes."""

    owner: str
    evaluation: BalanceEvaluation
    rotation: np.ndarray
    motion: Motion | None = None
    """The evaluated motion; None for the path of a scene."""

    @property
    def time(self) -> np.ndarray:
        """(frames,), s."""
        return self.evaluation.time

    @cached_property
    def _areas(self) -> dict[int, np.ndarray]:
        return {}

    def polygon(self, time: float) -> np.ndarray:
        """Vertices (n, 3), m, of the static polygon of the center of mass at an instant (s).

        The polygon lies at the mean height of the supports; n is 0 in flight and if it is empty.
        """
        frame = nearest_frame(self.time, time)
        number = int(self.evaluation.phase[frame])
        if number < 0 or self.evaluation.phases[number].stance is None:
            return np.zeros((0, 3))
        if number not in self._areas:
            self._areas[number] = self._area(self.evaluation.phases[number].stance)
        drift = self.evaluation.phases[number].belt_displacement(np.array([time]))[0]
        corners = self._areas[number]
        return (corners + drift) @ self.rotation.T if len(corners) else corners

    def _area(self, stance: Stance | None) -> np.ndarray:
        assert stance is not None
        demand = self.evaluation.demand
        try:
            area = static_equilibrium_polygon(stance, mass=demand.mass, gravity=demand.gravity)
        except NoSolution:
            return np.zeros((0, 3))
        level = GroundAxes.of(demand.gravity)
        corners = convex_outline(np.asarray(area.vertices))
        if len(corners) < 3:
            return np.zeros((0, 3))
        height = float(np.mean(stance.points @ level.up))
        flat = corners[:, :1] * level.first + corners[:, 1:] * level.second
        return np.asarray(flat + height * level.up)

    def supports(self, time: float) -> np.ndarray:
        """(n, 2, 3), m: outlines of the supports in use at an instant (s)."""
        frame = nearest_frame(self.time, time)
        number = int(self.evaluation.phase[frame])
        stance = None if number < 0 else self.evaluation.phases[number].stance
        if stance is None:
            return np.zeros((0, 2, 3))
        drift = self.evaluation.phases[number].belt_displacement(np.array([time]))[0]
        sides = [
            np.stack([patch.corners, np.roll(patch.corners, -1, axis=0)], axis=1)
            for patch in stance.supports
            if isinstance(patch, ContactPatch)
        ]
        return (np.concatenate(sides) + drift) @ self.rotation.T if sides else np.zeros((0, 2, 3))

    @cached_property
    def path(self) -> np.ndarray:
        """(n, 2, 3), m: line segments of the path of the center of mass."""
        rows = np.linspace(0, len(self.time) - 1, min(len(self.time), PATH_SEGMENTS + 1)).astype(
            int
        )
        com = self.evaluation.demand.com[rows] @ self.rotation.T
        return np.stack([com[:-1], com[1:]], axis=1)

    def center(self, time: float) -> np.ndarray:
        """(3,), m: the center of mass at an instant (s)."""
        return np.asarray(
            self.rotation @ self.evaluation.demand.com[nearest_frame(self.time, time)]
        )

    def balanced(self, time: float) -> bool:
        """Whether the supports can exert the required wrench at an instant (s)."""
        return bool(self.evaluation.wrench[nearest_frame(self.time, time)] >= -1e-6)


def evaluate_motion(document: StudioDocument, friction: float) -> BalanceResult:
    """Evaluate the motion of the active body on its detected stances."""
    actor = document.actor
    if actor is None or actor.motion is None:
        raise HomodynError("the active body has no motion to evaluate; open a result first")
    phases = detect_contacts(actor.motion, plates=plates_of(document, actor), friction=friction)
    return BalanceResult(
        actor.name,
        evaluate(actor.motion, phases),
        body_geometry(actor.model).rotation,
        actor.motion,
    )


def plates_of(document: StudioDocument, actor: Actor) -> tuple[ForcePlate, ...]:
    """Plates of the recording that the loads of a body use."""
    if document.trial is None or actor.loads is None:
        return ()
    used = {name for foot in actor.loads.feet for name in foot.plates}
    return tuple(plate for plate in document.trial.plates if plate.name in used)


def path_trial(opened: BalanceScene, balance: BalanceResult) -> Trial:
    """The center of mass of a scene as a recording of one marker, for playback."""
    time = balance.time
    rate = (len(time) - 1) / float(time[-1] - time[0])
    com = balance.evaluation.demand.com[:, None] @ balance.rotation.T
    return Trial(opened.name, ("center of mass",), com, rate, float(time[0]))


def evaluate_scene(opened: BalanceScene) -> BalanceResult:
    """Evaluate the path of a scene."""
    scene = opened.scene
    if scene.path is None:
        raise HomodynError(
            f"scene {opened.name!r} has no path to evaluate; homodyn balance plans one"
        )
    time = np.linspace(scene.path.instants[0], scene.path.instants[-1], PATH_SAMPLES)
    return BalanceResult(
        opened.name, evaluate(scene_wrench(scene, time), scene_phases(scene)), np.eye(3)
    )
