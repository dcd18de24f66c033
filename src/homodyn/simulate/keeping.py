"""The record of a run, made from what was kept of it, with its energy books."""

from __future__ import annotations

import numpy as np

from homodyn.dynamics import row_names
from homodyn.model import Model
from homodyn.simulate.faults import left_over, limits_met, made_energy
from homodyn.simulate.joint_rows import spring_energies
from homodyn.simulate.record import Happening, Ledger, Record, Status
from homodyn.simulate.setup import Setup


def made_record(
    setup: Setup,
    kept: dict[str, np.ndarray],
    happenings: tuple[Happening, ...],
    status: Status,
    message: str,
    steps: int,
    notes: tuple[str, ...],
    parameters: np.ndarray | None = None,
) -> Record:
    """The record of what was kept, under values for the parameters of the model."""
    kept = _finite(kept)
    unstable = (
        made_energy(setup, kept, steps) if status in (Status.FINISHED, Status.ENDED) else None
    )
    if unstable is not None:
        last, message = unstable
        status = Status.UNSTABLE
        kept = {name: array[: last + 1] for name, array in kept.items()}
        happenings = tuple(event for event in happenings if event.time <= kept["t"][-1])
    residuals = kept.get("residual", np.zeros(len(kept["t"])))
    notes = (*notes, *limits_met(setup, kept), *left_over(setup, {**kept, "residual": residuals}))
    return Record(
        setup.model,
        kept["t"],
        kept["q"],
        kept["v"],
        kept["torques"],
        kept["forces"],
        setup.scene.names if setup.law is not None else (),
        kept["distances"],
        ledger(setup.model, kept, parameters),
        happenings,
        status,
        message,
        steps,
        float(np.max(residuals, initial=0.0)),
        residuals,
        notes,
        setup.scene,
        kept["held"],
        () if setup.constraints is None else row_names(setup.constraints),
    )


def _finite(kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What was kept before the first state at which something is no number.

    That is where a run broke: what acts in a step that cannot be taken is not known. A run that
    broke in its first step keeps the state it began with, and nothing that acts there.
    """
    rows = len(kept["t"])
    sound = np.all([np.isfinite(a.reshape(rows, -1)).all(axis=1) for a in kept.values()], axis=0)
    if sound.all():
        return kept
    last = int(np.argmin(sound))
    if last == 0:
        return {n: np.nan_to_num(a[:1], nan=0.0, posinf=0.0, neginf=0.0) for n, a in kept.items()}
    return {name: array[:last] for name, array in kept.items()}


def ledger(
    model: Model, kept: dict[str, np.ndarray], parameters: np.ndarray | None = None
) -> Ledger:
    """The energy books of recorded states; time is the last axis, lanes may lie before it."""
    kinetic, potential, work = kept["kinetic"], kept["potential"], kept["work"]
    actuators, contacts, joints = work[..., 0], work[..., 1], work[..., 2]
    springs = spring_energies(model, kept["q"], parameters) - kept.get("sprung", 0.0)
    dissipated = -(joints + springs - springs[..., :1])
    change = kinetic + potential - (kinetic + potential)[..., :1]
    error = change - actuators - contacts + dissipated - kept["jumped"]
    return Ledger(kinetic, potential, actuators, contacts, dissipated, kept["jumped"], error)
