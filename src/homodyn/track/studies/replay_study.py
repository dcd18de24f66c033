"""Torques in closed loop against their replay without a correction."""

from __future__ import annotations

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import position
from homodyn.foundation import Record, record
from homodyn.track.replay import Replay, replay
from homodyn.track.result import TrackingResult
from homodyn.track.studies.study import StudyCurve, StudyPanel, TrackingStudy

EXACT_DIFFERENCE = 1e-8
"""Difference after a rewind that counts as none (rad, m)."""
FALLEN_ERROR_RAD = 0.5
"""Mean error of the joint angles, or lean, from which on a replayed body no longer moves alike."""


@record
class ReplayStudy(Record, TrackingStudy):
    """The driven body, the rewound body and the open-loop replay of one trial."""

    replay: Replay
    """The movements."""
    height_error: np.ndarray
    """(frames,), m: height of the root in the open loop minus that of the recording."""

    @property
    def title(self) -> str:
        """One line."""
        return "Torques in closed loop against open loop"

    @property
    def paper(self) -> str:
        """What the paper reports."""
        return (
            "Discussion of HDM: torques that are computed anew from the present state in each step "
            "stay valid; stored torques that are replayed without correction become unstable "
            "quickly (no number)."
        )

    def columns(self) -> dict[str, list[float | str]]:
        """Errors at five instants."""
        data = self.replay
        chosen = np.linspace(0, len(data.time) - 1, 6).astype(int)[1:]
        degrees = np.degrees(1.0)
        return {
            "time (s)": (data.time[chosen] - data.time[0]).tolist(),
            "closed loop (deg)": (degrees * data.joint_error(data.driven_q)[chosen]).tolist(),
            "open loop (deg)": (degrees * data.joint_error(data.open_q)[chosen]).tolist(),
            "height, open loop (m)": self.height_error[chosen].tolist(),
            "after rewind (rad, m)": data.rewind_difference[chosen].tolist(),
        }

    def panels(self) -> tuple[StudyPanel, ...]:
        """Angle errors and height over time, and the difference after a rewind."""
        data, degrees = self.replay, np.degrees(1.0)
        time = data.time - data.time[0]
        angles = tuple(
            StudyCurve(label, time, degrees * data.joint_error(q))
            for label, q in (("closed loop", data.driven_q), ("open loop", data.open_q))
        )
        height = (StudyCurve("open loop", time, self.height_error),)
        size = np.log10(np.maximum(data.rewind_difference, 1e-17))
        return (
            StudyPanel("mean error of angles", "time (s)", "deg", angles),
            StudyPanel("height of the root", "time (s)", "m", height),
            StudyPanel(
                "log10 of the difference after a rewind",
                "time (s)",
                "rad, m",
                (StudyCurve("rewound", time, size),),
            ),
        )

    def findings(self) -> tuple[str, ...]:
        """Bounds of the closed loop, end of the open loop, and exactness of the rewind."""
        data = self.replay
        closed, opened = data.joint_error(data.driven_q), data.joint_error(data.open_q)
        wrong = (opened > FALLEN_ERROR_RAD) | (np.abs(self.height_error) > FALLEN_ERROR_RAD)
        time = data.time - data.time[0]
        exact = int((data.rewind_difference < EXACT_DIFFERENCE).sum())
        end = (
            f"The replay without correction leaves the recording after {time[wrong.argmax()]:.2f} s"
            if wrong.any()
            else f"The replay without correction stays within {np.degrees(opened.max()):.1f} deg"
        )
        return (
            f"Closed loop: at most {np.degrees(closed.max()):.2f} deg mean error of the angles.",
            f"{end}.",
            f"After a rewind, torques reproduce the step within {EXACT_DIFFERENCE:g} rad or m in "
            f"{exact} of {len(data.time)} frames (median {np.median(data.rewind_difference):.1e}).",
        )

    def headline(self) -> str:
        """Model and frames."""
        return f"ReplayStudy of {self.replay.model.name!r}: {len(self.replay.time)} frames"


def replay_study(reference: TrackingResult) -> ReplayStudy:
    """Compare closed loop and open loop on a tracked trial.

    Args:
        reference: A tracked trial.

    Returns:
        Movements and errors.
    """
    data = replay(reference)
    model = data.model
    height = np.zeros(len(data.time))
    if model.root:
        up, body = world_axes(model)[2], model.root.bodies[0]
        height = (position(model, data.open_q, body) - position(model, data.reference_q, body)) @ up
    return ReplayStudy(data, np.asarray(height))
