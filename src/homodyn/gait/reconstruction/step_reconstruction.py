"""Torques and ground forces of a recorded step, by the nearest dynamically consistent motion.

Felis 2015, section 5.3: recorded coordinates are tracked by a movement that obeys the laws of
motion and of contact, so there is no residual force at the root and no tensile contact force.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from homodyn.capture import (
    Trial,
    filter_motion,
    inverse_dynamics,
    inverse_kinematics,
)
from homodyn.errors import HomodynError
from homodyn.gait.reconstruction.problem import ReconstructionSettings, reconstruction_problem
from homodyn.gait.reconstruction.reconstruction_result import Reconstruction
from homodyn.model import Model
from homodyn.motion import Loads, Motion
from homodyn.optimal import TRANSCRIPTIONS, Problem, Solution, SolveOptions

INITIAL_BARRIER = 1e-4
"""Initial barrier parameter where soles yield: objectives are of this size."""


class ReconstructionOptions(ReconstructionSettings, SolveOptions, total=False):
    """Settings of the problem, and options of its solve, all of them optional.

    Attributes:
        transcription: ``"midpoint"`` or ``"collocation"``.
        defect_tolerance: See `homodyn.optimal.Problem.solve`.
        refinements: See `homodyn.optimal.Problem.solve`.
    """

    transcription: str
    defect_tolerance: float | None
    refinements: int


def reconstruct(
    motion: Motion, measured: Loads | None = None, **options: Unpack[ReconstructionOptions]
) -> Reconstruction:
    """Torques and ground forces of a recorded step, by the nearest dynamically consistent motion.

    Args:
        motion: The recorded movement, with smooth velocities and accelerations
            (``hd.capture.filter_motion``).
        measured: Measured ground forces; tracked with the weight ``force``, or only compared where
            ``force=0``.
        options: Settings of the problem (`ReconstructionSettings`: ``phases``, ``events``,
            ``span``, ``step``, ``intervals``, ``preset``, ``effort``, ``lag``, ``force``,
            ``friction``, ``touchdown``, ``compliant``, ``load_transfer``) and of its solve
            (``transcription``, ``defect_tolerance``, ``refinements``,
            `homodyn.optimal.SolveOptions`).

    Returns:
        The reconstruction; ``solution.status`` says how the solve ended.

    Raises:
        HomodynError: A setting is unknown, or the transcription has no contact forces.
        CaptureError: The phases do not fit the motion, or there is no complete step.
    """
    settings, solving = split_options(options)
    problem, schedule = reconstruction_problem(motion, measured=measured, **settings)
    solution = solve_reconstruction(problem, solving)
    tracked = measured is not None and settings.get("force", 1.0) > 0
    return Reconstruction(
        solution, motion, schedule, measured, tracked, friction=settings.get("friction")
    )


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of the problem, and options of its solve."""
    names = (*SolveOptions.__annotations__, "transcription", "defect_tolerance", "refinements")
    solving = {key: options[key] for key in names if key in options}
    return {key: value for key, value in options.items() if key not in names}, solving


def solve_reconstruction(problem: Problem, solving: Mapping[str, Any]) -> Solution:
    """Solve a problem of tracking, whose guess is nearly its solution."""
    options = dict(solving)
    transcription = options.pop("transcription", "midpoint")
    if transcription in TRANSCRIPTIONS and not TRANSCRIPTIONS[transcription].has_contact_forces:
        raise HomodynError(
            f"reconstruct(): {transcription!r} has no contact forces; use 'midpoint' or "
            "'collocation', or solve reconstruction_problem() yourself"
        )
    if any(phase.compliant for phase in problem.phases):
        # A foot that nothing holds is unstable: torques alone do not keep it under its load.
        options.setdefault("defect_tolerance", None)
        # The guess is nearly the solution: a large barrier leads away from it, and not always back.
        options.setdefault("initial_barrier", INITIAL_BARRIER)
    return problem.solve(transcription, **options)


def reconstruct_trial(
    model: Model,
    trial: Trial,
    *,
    cutoff: float = 6.0,
    **options: Unpack[ReconstructionOptions],
) -> Reconstruction:
    """Reconstruct a step of a trial: inverse kinematics, force plates, optimal control.

    Args:
        model: The scaled model.
        trial: The recording.
        cutoff: Cutoff frequency of the low-pass filter of coordinates and plates (Hz).
        options: See `reconstruct`.

    Returns:
        The reconstruction.

    Raises:
        CaptureError: There is no complete step.
    """
    motion = filter_motion(inverse_kinematics(model, trial), cutoff=cutoff)
    measured = (
        inverse_dynamics(motion, trial.plates, cutoff=None, force_cutoff=cutoff)
        if trial.plates
        else None
    )
    options.setdefault("events", tuple(trial.events) or None)
    return reconstruct(motion, measured, **options)
