"""One problem for several recorded steps of a person, with shared unknowns.

Contact points and the mass are estimated from all steps first: both follow from linear least
squares, with the recorded motions as data. How the load passes from foot to foot is an unknown of
the problem. Steps with plates decide it where forces are tracked, the laws of motion elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation.text import enumerate_names
from homodyn.gait.foot_calibration import fit_shared_foot_contacts
from homodyn.gait.reconstruction.load_sharing import LOAD_TRANSFER
from homodyn.gait.reconstruction.plate_mass import plate_mass
from homodyn.gait.reconstruction.problem import ReconstructionSettings, reconstruction_problem
from homodyn.gait.reconstruction.recorded_step import RecordedStep
from homodyn.model import Body, Model
from homodyn.optimal import ObjectiveTerm, Phase, Problem

LOAD_TRANSFER_PRIOR = 1e-6
"""Weight of the squared shape of the load transfer: that of a deviation of 3 % of the weight over a
double support of 0.1 s at a shape of one."""
SAME_LENGTH_M, SAME_SHARE = 1e-6, 1e-6
"""Largest differences of lengths and (relative) masses of the same body."""


def share_body(
    steps: Sequence[RecordedStep], *, mass_from_plates: bool = False, fit_contacts: bool = True
) -> tuple[RecordedStep, ...]:
    """Steps of a person with one body: one set of contact points, and one mass.

    Args:
        steps: Recorded steps, prepared without fitted contacts (`prepare_step`).
        mass_from_plates: Whether the mass is the one that the plates of all steps carry, where
            plates measured any.
        fit_contacts: Whether contact points are fitted to the floor, in all steps at once.

    Returns:
        The steps, whose motions have the same model.

    Raises:
        CaptureError: The models differ in bodies or joints.
    """
    if not steps:
        raise CaptureError("there are no steps to reconstruct")
    first = steps[0].motion.model
    for step in steps[1:]:
        difference = model_difference(first, step.motion.model)
        if difference:
            raise CaptureError(
                f"the steps are not of one body: {difference}; fit all trials with one scaled "
                "model, such as --model scaled.toml with --scale none"
            )
    model = first
    if fit_contacts:
        model = fit_shared_foot_contacts([(step.motion, step.events) for step in steps])
    if mass_from_plates:
        mass = plate_mass([step.loads for step in steps if step.loads is not None])
        model = model if mass is None else with_mass(model, mass)
    return tuple(_with_model(step, model) for step in steps)


def with_mass(model: Model, mass: float) -> Model:
    """The model with another total mass; each segment keeps its share and radii of gyration.

    Args:
        model: The model.
        mass: kg.

    Returns:
        The model.
    """
    ratio = mass / float(model.mass)
    bodies = tuple(
        replace(body, mass=body.mass * ratio, inertia=body.inertia * ratio) for body in model.bodies
    )
    return replace(model, bodies=bodies)


def model_difference(one: Model, two: Model) -> str:
    """The first difference of two models in coordinates, bodies or joints.

    Args:
        one: A model.
        two: Another one; markers and contacts may differ.

    Returns:
        What differs; empty for the same body.
    """
    if one.coordinate_names != two.coordinate_names or one.body_names != two.body_names:
        names = sorted(set(one.coordinate_names) ^ set(two.coordinate_names))
        return f"their coordinates differ: {enumerate_names(names or ['their order'], 4)}"
    for joint, other in zip(one.joints, two.joints, strict=True):
        shift = np.asarray(joint.placement.r) - np.asarray(other.placement.r)
        if np.linalg.norm(shift.astype(float)) > SAME_LENGTH_M:
            distance = 1e3 * float(np.linalg.norm(shift.astype(float)))
            return f"the places of joint {joint.name!r} are {distance:.3g} mm apart"
    for body, same in zip(one.bodies, two.bodies, strict=True):
        if not _same_masses(body, same):
            return f"the masses or centers of mass of body {body.name!r} differ"
    return ""


def _same_masses(one: Body, two: Body) -> bool:
    masses = np.array([one.mass, two.mass], dtype=float)
    apart = np.linalg.norm(np.asarray(one.com, dtype=float) - np.asarray(two.com, dtype=float))
    return bool(abs(np.diff(masses)[0]) <= SAME_SHARE * masses.max() and apart <= SAME_LENGTH_M)


def _with_model(step: RecordedStep, model: Model) -> RecordedStep:
    """The step with the shared model; its markers stay those of its own recording."""
    own = replace(model, markers=step.motion.model.markers)
    motion = replace(step.motion, model=own)
    loads = None if step.loads is None else replace(step.loads, motion=motion)
    return replace(step, motion=motion, loads=loads)


def pooled_problem(
    steps: Sequence[RecordedStep], **settings: Unpack[ReconstructionSettings]
) -> tuple[Problem, tuple[int, ...]]:
    """One problem for several steps: their phases in sequence, and what they share.

    Args:
        steps: Steps of one body (`share_body`).
        settings: See `ReconstructionSettings`; contact schedules are those of the steps.

    Returns:
        The problem, and the number of phases of each step.

    Raises:
        HomodynError: A setting is unknown, or belongs to a single step.
        CaptureError: The phases do not fit a motion.
    """
    given: dict[str, Any] = {"load_transfer": "free", **settings}
    own = [name for name in ("phases", "events", "span", "intervals") if name in given]
    if own:
        raise HomodynError(f"{own[0]} belongs to a single step; steps bring their own phases")
    phases: list[Phase] = []
    counts: list[int] = []
    parameters: dict[str, Any] = {}
    for k, step in enumerate(steps):
        problem, _ = reconstruction_problem(
            step.motion, measured=step.loads, phases=step.phases, **given
        )
        renamed = [replace(p, name=f"step {k + 1}, phase {p.name}") for p in problem.phases]
        phases += [*renamed[:-1], replace(renamed[-1], transition="separate")]
        counts.append(len(renamed))
        parameters |= problem.parameters
    phases[-1] = replace(phases[-1], transition="continuous")
    if LOAD_TRANSFER in parameters:
        prior = ObjectiveTerm("prior", lambda point: point.parameter(LOAD_TRANSFER))
        terms = [*phases[0].terms, LOAD_TRANSFER_PRIOR * prior.at("start")]
        phases[0] = replace(phases[0], terms=terms)
    return Problem(steps[0].motion.model, phases, parameters), tuple(counts)
