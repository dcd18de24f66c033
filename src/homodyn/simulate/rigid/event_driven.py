"""Event-driven rigid contacts: smooth motion between impacts that are located in time.

The scheme of HuMAnS (2006, chapters 5 and 6) with friction. Between events the accelerations of
`contact_accelerations` are integrated with error control. An event is a contact or limit that
closes or opens, or a contact or coordinate that starts or stops sliding. `resolve_impact` computes
the impacts of closing contacts. The forces of one evaluation are the initial guess of the next.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation import enumerate_names
from homodyn.foundation.record import record
from homodyn.model import Model
from homodyn.simulate.actuation import ActuationArgument
from homodyn.simulate.options import SimulationOptions
from homodyn.simulate.result import SimulationResult
from homodyn.simulate.rigid.event_settings import EventDrivenSettings
from homodyn.simulate.rigid.event_simulation import run_event_driven


@record(eq=True)
class EventDrivenContact(EventDrivenSettings):
    """Rigid contacts with Coulomb friction and impacts that are located in time.

    ``friction`` and ``restitution`` are one number for all contact shapes, numbers by name of the
    shape with ``"*"`` for the others, or names of batch parameters. The law takes its own steps.

    Attributes:
        friction: Coefficient of friction.
        restitution: Fraction of the approach speed that a bounce returns, 0 to 1.
        rest_speed: Impacts slower than this (m/s) do not bounce, which ends a sequence of bounces.
        impact: "cone" lets contacts open and slide in an impact, "stick" (HuMAnS) does not.
        limits: Whether limits of coordinates are rigid; otherwise there are none.
        tolerance: Error of a step relative to the state.
        max_events_per_second: More events per second of simulated time end the run.
        max_overlap: A larger overlap (m) at the start ends the run.

    Raises:
        ModelError: A constant is out of its range.
    """

    def simulate(
        self,
        model: Model,
        q0: ArrayLike,
        v0: ArrayLike | None,
        duration: float,
        dt: float,
        actuation: ActuationArgument,
        options: SimulationOptions,
    ) -> SimulationResult:
        """Run a simulation; the arguments are those of `homodyn.simulate.run`.

        Args:
            model: The model.
            q0: Positions at the start, (nq,).
            v0: Velocities at the start, (nv,); None for rest.
            duration: Time to simulate (s).
            dt: Maximum step (s).
            actuation: Actuation of the joints.
            options: Other options; the integrator and its tolerance do not apply.

        Returns:
            The result.
        """
        refused = [
            name for name in ("signals", "measures", "external_forces") if getattr(options, name)
        ]
        if refused:
            raise ModelError(
                f"contact law {self.name!r} has no steps of fixed length and takes no "
                f"{enumerate_names(refused)}; use 'time_stepping' for rigid contacts with them"
            )
        return run_event_driven(self, model, q0, v0, duration, dt, actuation, options)
