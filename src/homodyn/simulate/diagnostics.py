"""Messages about simulations that fail or need attention: what, where and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from homodyn.dynamics import mass_matrix
from homodyn.foundation import count_of
from homodyn.model import Model
from homodyn.simulate.actuation import torque_kernel
from homodyn.simulate.laws import ForceLaw, StepLaw
from homodyn.simulate.result import SimulationStatus
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.simulation_point import SimulationPoint

MIN_INERTIA_RATIO = 1e-12
"""Fraction of the largest inertia below which an inertia counts as zero."""
MAX_SILENT_RESIDUAL = 0.01
"""m/s, of contacts or of the whole mass: a larger residual of a step is reported."""
SATURATION_FRACTION = 1 - 1e-6
"""Fraction of its largest torque from which a motor counts as saturated."""
MIN_LIMIT_EXCESS = 1e-3
"""rad, m: a joint further beyond its limit is reported."""
MAX_NAMED_COORDINATES = 5
"""Number of coordinates that a note names."""
MAX_CREATED_ENERGY_FRACTION = 0.5
"""Fraction of the largest kinetic energy that contacts may create before a run is unstable."""
ENERGY_NOISE_J_PER_KG = 1e-5
"""Created energy that is ignored, for bodies that hardly move."""


def step_failure_message(
    setup: SimulationSetup,
    status: SimulationStatus,
    point: SimulationPoint,
    h: float,
    parameters: np.ndarray | None,
) -> str:
    """Why the step of ``h`` (s) from ``point`` ended with the status."""
    model = setup.model if parameters is None else setup.model.at(parameters)
    names, t = model.coordinate_names, point.t
    states = point.z[setup.law_memory :]
    unknown = [n for n, x in zip(setup.actuator_states, states, strict=True) if not np.isfinite(x)]
    if unknown:
        return f"at {t:.6g} s {', '.join(unknown)} is not finite; {NOT_FINITE_STATE_HINT}"
    kernel = torque_kernel(model, setup.traced_actuation, setup.batch_names, setup.torque_limits)
    given = (np.asarray(t), point.q, point.v, point.torque, point.batch, states)
    torques = np.asarray(kernel(*given))
    # Torque limits would hide an external torque of NaN.
    invalid = [
        name
        for name, *parts in zip(names, point.torque, torques, strict=True)
        if not np.isfinite(parts).all()
    ]
    if invalid:
        return f"at {t:.6g} s the torque of {', '.join(invalid)} is not finite"
    if status is SimulationStatus.NOT_CONVERGED:
        law = setup.law
        more = f"more {law.refinement} or " if isinstance(law, StepLaw) else ""
        return (
            f"the step of {h:g} s at {t:.6g} s could not be solved to its tolerance; use "
            f"{more}shorter steps"
        )
    H = mass_matrix(model, point.q)
    size = np.linalg.eigvalsh(H) if np.isfinite(H).all() else np.zeros(1)
    if len(names) and size[0] <= MIN_INERTIA_RATIO * size[-1]:
        cause = massless_coordinate(model, H)
        return f"at {t:.6g} s the mass matrix is not positive definite: {cause}"
    fastest = int(np.argmax(np.abs(point.v))) if len(names) else 0
    return (
        f"the step of {h:g} s at {t:.6g} s gives a state that is not finite or too large; before "
        f"it {names[fastest]} had the velocity {point.v[fastest]:.3g} (SI units): use shorter "
        "steps, implicit springs, or softer contacts and gains"
    )


def energy_creation(
    setup: SimulationSetup, recorded: Mapping[str, np.ndarray], steps: int
) -> tuple[int, str] | None:
    """The first sample at which contact springs released more energy than they stored, and why.

    Passive springs cannot do this: the step is too long for them, and bodies bounce off the ground
    although all numbers are finite.
    """
    if not isinstance(setup.law, ForceLaw):
        return None
    work = recorded["work"][:, 1] - _surface_work(setup, recorded)
    forces, depths = recorded["forces"], np.maximum(-recorded["distances"][0], 0)
    stored = np.sum(np.linalg.norm(forces[0], axis=-1) * depths)
    kinetic = np.maximum.accumulate(recorded["kinetic"])
    noise = ENERGY_NOISE_J_PER_KG * float(setup.model.nominal_value(setup.model.mass))
    unstable = np.flatnonzero(work - stored > MAX_CREATED_ENERGY_FRACTION * kinetic + noise)
    if not unstable.size:
        return None
    k = int(unstable[0])
    largest = int(np.argmax(np.linalg.norm(forces[: k + 1], axis=-1).max(axis=0)))
    time = recorded["t"]
    return k, (
        f"until {time[k]:.6g} s contacts created {work[k] - stored:.3g} J, with the largest force "
        f"at {setup.geometry.names[largest]}: steps of {time[-1] / steps:.3g} s are too long; "
        "use shorter ones, softer contacts, or implicit springs"
    )


def _surface_work(setup: SimulationSetup, recorded: Mapping[str, np.ndarray]) -> np.ndarray:
    """Work of moving surfaces since the start at every sample (J), by the trapezoidal rule."""
    velocities = setup.geometry.surface_velocities
    power = np.einsum("tkx,kx->t", recorded["forces"], velocities)
    steps = np.diff(recorded["t"]) * (power[1:] + power[:-1]) / 2
    return np.concatenate([[0.0], np.cumsum(steps)])


def limit_notes(setup: SimulationSetup, recorded: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """Notes about saturated motors and joints beyond their limits."""
    model, time = setup.model, recorded["t"]
    if len(time) < 2:
        return ()
    notes = []
    # As in `torque_bounds`: above its max_velocity a motor keeps its power.
    limit = np.where(np.isfinite(model.max_velocity), model.max_velocity, np.inf)
    reduction = np.minimum(limit / np.maximum(np.abs(recorded["v"][:-1]), 1e-300), 1.0)
    largest = model.max_force * np.where((limit > 0) & np.isfinite(limit), reduction, 1.0)
    torques = np.abs(recorded["torques"][:-1])
    saturated = (torques >= SATURATION_FRACTION * largest) & (largest > 0)
    durations = np.where(saturated & setup.torque_limits, np.diff(time)[:, None], 0.0).sum(axis=0)
    names = model.coordinate_names
    if durations.any():
        listing = _largest_entries(durations, lambda k: f"{names[k]} ({durations[k]:.3g} s)")
        notes.append(f"motors at their torque limit: {listing}")
    places = [0 if place is None else place for place in model.position_index]
    known = np.array([place is not None for place in model.position_index], bool)
    q = recorded["q"][:, places]
    excess = np.maximum(np.asarray(model.lower) - q, q - np.asarray(model.upper)).max(axis=0)
    excess = np.where(known & (excess > MIN_LIMIT_EXCESS), excess, 0.0)
    if excess.any():
        listing = _largest_entries(excess, lambda k: f"{names[k]} ({excess[k]:.2g})")
        notes.append(f"coordinates beyond their limits, by rad or m: {listing}")
    return tuple(notes)


def residual_notes(setup: SimulationSetup, recorded: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """Notes about steps of a step law with a residual above `MAX_SILENT_RESIDUAL`."""
    law = setup.law
    if not isinstance(law, StepLaw) or not recorded["residual"].any():
        return ()
    scale = (
        1.0 if law.residual_unit == "m/s" else float(setup.model.nominal_value(setup.model.mass))
    )
    speed = recorded["residual"] / scale
    worst = int(np.argmax(speed))
    if speed[worst] <= MAX_SILENT_RESIDUAL:
        return ()
    count = int(np.sum(speed > MAX_SILENT_RESIDUAL))
    return (
        f"contacts were solved to {MAX_SILENT_RESIDUAL} m/s in all but {count} of "
        f"{count_of(len(speed), 'recorded step')}, worst {speed[worst]:.2g} m/s at "
        f"{recorded['t'][worst]:.6g} s; more {law.refinement} or shorter steps reduce it",
    )


def _largest_entries(size: np.ndarray, describe: Callable[[int], str]) -> str:
    """The largest positive entries, described."""
    order = [int(k) for k in np.argsort(-size, kind="stable") if size[k] > 0]
    rest = len(order) - MAX_NAMED_COORDINATES
    more = f" and {rest} more" if rest > 0 else ""
    return ", ".join(describe(k) for k in order[:MAX_NAMED_COORDINATES]) + more


NOT_FINITE_STATE_HINT = (
    "check what excites it; undamped fibers of nearly no activation have no bounded speed: give "
    "the muscle fiber_damping, or take tendon='rigid'"
)
"""What to do about states of an actuation that are not finite."""


def massless_coordinate(model: Model, H: np.ndarray) -> str:
    """A message that names the coordinate without inertia."""
    if not np.isfinite(H).all():
        return "it is not finite"
    direction = np.abs(np.linalg.eigh(H)[1][:, 0])
    name = model.coordinate_names[int(np.argmax(direction))]
    return f"coordinate {name} has no inertia; give its bodies mass and inertia"
