"""Effort of reaching to eight targets, near and far, low and high."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.capture import Trial
from homodyn.capture.kinematics import inverse_kinematics
from homodyn.capture.kinetics.work import joint_work
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.simulate import place_on_ground
from homodyn.track.options import TrackingOptions
from homodyn.track.studies.study import StudyCurve, StudyPanel, TrackingStudy
from homodyn.track.variants import track_variants

RATE_HZ = 60.0
STILL_S, MOVE_S, HOLD_S = 0.3, 0.8, 0.2
"""Standing before and after, reaching or returning, and staying at the target (s)."""
TARGETS = {
    "1": (0.22, 0.06, 0.76),
    "2": (0.22, -0.10, 0.60),
    "3": (0.22, -0.10, 0.76),
    "4": (0.22, 0.06, 0.60),
    "5": (0.46, 0.06, 0.82),
    "6": (0.46, -0.10, 0.60),
    "7": (0.46, -0.10, 0.82),
    "8": (0.46, 0.06, 0.60),
}
"""Places forward, to the left and up from the ground below the pelvis, as shares of the height of
the body. The paper prints none; 1 to 4 are within reach, 5 to 8 need a step."""
FAR_TARGETS = ("5", "6", "7", "8")
STEP_LENGTH, STEP_HEIGHT, PELVIS_SHIFT = 0.18, 0.03, 0.11
"""Step of the right foot and shift of the trunk for far targets, as shares of the height."""
TARGET_SPREAD_M, DURATION_SPREAD = 0.01, 0.05
"""Standard deviations of target (m) and duration (share) between trials."""
TRUNK_WEIGHT = 0.05
"""Weight of the markers of the trunk relative to those of hand and feet."""
HAND_WORDS, FOOT_WORDS = ("hand",), ("foot", "toe", "heel", "calcn", "talus")
TRUNK_WORDS = ("pelvis", "torso", "trunk", "thorax", "head")


@record
class ReachStudy(Record, TrackingStudy):
    """Integrated torque of reaches to each target."""

    targets: tuple[str, ...]
    effort: np.ndarray
    """(targets, trials), N m s: integral of the magnitude of all joint torques."""
    work: np.ndarray
    """(targets, trials), J: absolute work of all joints."""
    reached: np.ndarray
    """(targets,), m: mean distance of the hand from the target at the end of the reach."""
    complete: np.ndarray
    """(targets, trials): whether all frames have a pose."""

    @property
    def title(self) -> str:
        """One line."""
        return "Effort of reaching to eight targets"

    @property
    def paper(self) -> str:
        """What the paper reports."""
        return (
            "Figure 6 of HDM: mean integrated torque of 10 reaches to each target. Target 2 is "
            "cheapest, and 5 to 8, which need a step, cost more than 1 to 4; positions and values "
            "are not printed. These reaches are synthetic: minimum-jerk paths of the right hand."
        )

    def columns(self) -> dict[str, list[float | str]]:
        """Effort and work by target."""
        return {
            "target": list(self.targets),
            "integrated torque (N m s)": self.effort.mean(axis=1).tolist(),
            "standard deviation (N m s)": self.effort.std(axis=1).tolist(),
            "absolute work (J)": self.work.mean(axis=1).tolist(),
            "distance of the hand (mm)": (1e3 * self.reached).tolist(),
            "trials that end": self.complete.sum(axis=1).astype(float).tolist(),
        }

    def panels(self) -> tuple[StudyPanel, ...]:
        """Bars by target, as Figure 6 C."""
        places = np.arange(len(self.targets), dtype=float)
        return tuple(
            StudyPanel(
                title,
                "target",
                unit,
                (StudyCurve("mean", places, values.mean(axis=1), values.std(axis=1)),),
                True,
                ticks=self.targets,
            )
            for title, unit, values in (
                ("integrated torque", "N m s", self.effort),
                ("absolute work", "J", self.work),
            )
        )

    def findings(self) -> tuple[str, ...]:
        """Order of the targets."""
        mean, deviation = self.effort.mean(axis=1), self.effort.std(axis=1)
        order = ", ".join(self.targets[k] for k in np.argsort(mean))
        far = np.array([name in FAR_TARGETS for name in self.targets])
        sentences = [f"From the least to the most integrated torque: {order}."]
        if far.any() and not far.all():
            more = "all cost" if mean[far].min() > mean[~far].max() else "do not all cost"
            sentences.append(f"Targets that need a step {more} more than those within reach.")
        sentences.append(
            f"Standard deviations within a target are at most {deviation.max():.2g} N m s; means "
            f"of the targets differ by {np.ptp(mean):.3g} N m s."
        )
        return tuple(sentences)

    def headline(self) -> str:
        """Targets and trials."""
        targets, trials = self.effort.shape
        return f"ReachStudy: {targets} targets, {trials} trials each"


def minimum_jerk(share: np.ndarray) -> np.ndarray:
    """Path from 0 to 1 with the least jerk (Flash and Hogan 1985).

    Args:
        share: Time from 0 to 1; clipped.

    Returns:
        10 s^3 - 15 s^4 + 6 s^5.
    """
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(10 * s**3 - 15 * s**4 + 6 * s**5)


def reach_markers(
    model: Model, target: np.ndarray, step: bool, duration: float
) -> tuple[np.ndarray, float]:
    """Markers of a body that reaches to a target with its right hand and returns.

    Args:
        model: A model with markers on hands, feet and trunk.
        target: Place of the target (m, Z up, X forward, from the ground below the pelvis).
        step: Whether the right foot steps forward and back.
        duration: Time of each movement (s).

    Returns:
        Markers, (frames, markers, 3), m, Z up, and the distance of the hand from the target (m).

    Raises:
        CaptureError: The model has no markers on its right hand, or none on its feet.
    """
    axes = world_axes(model)
    standing = place_on_ground(model, model.neutral())
    names = [marker.name for marker in model.markers]
    bodies = [model.body_names[model.locate(name)[0]].lower() for name in names]
    still = np.asarray(marker_positions(model, standing)) @ axes.T
    height = float(np.ptp(still[:, 2]))
    hand = _on(bodies, HAND_WORDS, "right", "_r")
    feet, right_foot = _on(bodies, FOOT_WORDS), _on(bodies, FOOT_WORDS, "right", "_r")
    trunk = _on(bodies, TRUNK_WORDS)
    if not hand.any() or not feet.any():
        raise CaptureError(
            f"model {model.name!r} needs markers on its right hand and on its feet for reaches"
        )
    time = np.arange(int(np.ceil((2 * (STILL_S + duration) + HOLD_S) * RATE_HZ))) / RATE_HZ
    back = STILL_S + duration + HOLD_S
    there = minimum_jerk((time - STILL_S) / duration) - minimum_jerk((time - back) / duration)
    positions = np.full((len(time), *still.shape), np.nan)
    positions[:, feet] = still[feet]
    root = still[trunk].mean(axis=0) if trunk.any() else still.mean(axis=0)
    goal = target + np.array([root[0], root[1], 0.0]) - still[hand].mean(axis=0)
    positions[:, hand] = still[hand] + there[:, None, None] * goal
    shift = np.zeros((len(time), 3))
    if step:
        lift = np.gradient(there, time)
        path = np.zeros((len(time), 3))
        path[:, 0] = STEP_LENGTH * height * there
        path[:, 2] = STEP_HEIGHT * height * np.abs(lift) / np.abs(lift).max()
        positions[:, right_foot] = still[right_foot] + path[:, None]
        shift[:, 0] = PELVIS_SHIFT * height * there
    positions[:, trunk] = still[trunk] + shift[:, None]
    trial = Trial("reach", tuple(names), positions, RATE_HZ)
    weights = {name: TRUNK_WEIGHT if on else 1.0 for name, on in zip(names, trunk, strict=True)}
    motion = inverse_kinematics(model, trial, weights=weights)
    markers = np.asarray(marker_positions(model, motion.q)) @ axes.T
    middle = int((STILL_S + duration + HOLD_S / 2) * RATE_HZ)
    reached = markers[middle, hand] - still[hand] - goal
    return markers, float(np.linalg.norm(reached.mean(axis=0)))


def reach_study(
    model: Model,
    options: TrackingOptions | None = None,
    *,
    trials: int = 10,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> ReachStudy:
    """Track synthetic reaches to eight targets, and compare the integrated torques.

    Args:
        model: A model with markers and contacts, such as that of a tracked trial.
        options: Laws and limits.
        trials: Reaches to each target, whose places and durations vary at random.
        seed: Start of the random numbers.
        progress: Called with the completed share.

    Returns:
        Effort and work by target.

    Raises:
        CaptureError: There is no trial, or the model has no markers on its right hand or feet.
    """
    if trials < 1:
        raise CaptureError(f"trials must be at least 1, got {trials}")
    rng = np.random.default_rng(seed)
    still = np.asarray(marker_positions(model, place_on_ground(model, model.neutral())))
    height = float(np.ptp(still @ world_axes(model).T[:, 2]))
    recorded, distances = [], np.zeros((len(TARGETS), trials))
    for k, (name, place) in enumerate(TARGETS.items()):
        for trial in range(trials):
            target = height * np.array(place) + TARGET_SPREAD_M * rng.standard_normal(3)
            duration = MOVE_S * (1 + DURATION_SPREAD * rng.standard_normal())
            far = name in FAR_TARGETS
            markers, distances[k, trial] = reach_markers(model, target, far, duration)
            recorded.append(markers)
            if progress is not None:
                progress(0.5 * len(recorded) / distances.size)
    longest = max(len(markers) for markers in recorded)
    # The ends of shorter reaches are extended: the body stands still.
    variants = [
        np.concatenate([markers, np.tile(markers[-1], (longest - len(markers), 1, 1))])
        for markers in recorded
    ]
    found = track_variants(
        model,
        np.array(variants),
        RATE_HZ,
        place_on_ground(model, model.neutral()),
        options,
        progress=None if progress is None else lambda share: progress(0.5 + 0.5 * share),
    )
    ends = [(len(markers) - 1) / RATE_HZ for markers in recorded]
    works = [joint_work(found.loads(k), between=(0.0, end)) for k, end in enumerate(ends)]
    return ReachStudy(
        tuple(TARGETS),
        np.array([work.effort.sum() for work in works]).reshape(distances.shape),
        np.array([work.total_absolute for work in works]).reshape(distances.shape),
        distances.mean(axis=1),
        found.complete.reshape(distances.shape),
    )


def _on(bodies: list[str], words: tuple[str, ...], side: str = "", suffix: str = "") -> np.ndarray:
    """Which markers are on bodies with one of the words in their names, of one side if given."""
    return np.array(
        [
            any(word in body for word in words)
            and (not side or side in body or body.endswith(suffix))
            for body in bodies
        ]
    )
