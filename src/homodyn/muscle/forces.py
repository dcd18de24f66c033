"""Forces of all muscles at given activations."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.muscles import Muscle
from homodyn.model.state_function import state_function
from homodyn.muscle.activation_levels import check_activations
from homodyn.muscle.equilibrium import FOUND, UNLOADED, TracedEquilibrium, solve_equilibrium
from homodyn.muscle.finite_states import FINITE_STATE
from homodyn.muscle.geometry.path_lines import moment_arm_entries
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.models.degroote_fregly2016 import DeGrooteFregly2016
from homodyn.muscle.models.millard2012 import Millard2012
from homodyn.muscle.models.muscle_model import HillModel, MuscleModel
from homodyn.muscle.models.thelen2003 import Thelen2003
from homodyn.muscle.paths import traced_paths
from homodyn.muscle.stimulation.calcium_muscle import CALCIUM_KIND, CalciumMuscle
from homodyn.spatial import Array, ArrayInput, ParameterValues

MODELS_BY_KIND: dict[str, MuscleModel] = {
    CALCIUM_KIND: CalciumMuscle(),
    "DeGrooteFregly2016Muscle": DeGrooteFregly2016(),
    "Millard2012EquilibriumMuscle": Millard2012(),
    "Thelen2003Muscle": Thelen2003(),
}
"""Models by the kind that a muscle states."""
BY_FILE, RIGID, COMPLIANT = "file", "rigid", "compliant"
TENDONS = (BY_FILE, RIGID, COMPLIANT)
"""How tendons are modeled: as each muscle states, all rigid, or all compliant."""


def is_rigid(muscle: Muscle, tendon: str) -> bool:
    """Whether the tendon of a muscle keeps its slack length.

    Args:
        muscle: The muscle.
        tendon: One of ``TENDONS``.

    Raises:
        ModelError: ``tendon`` is unknown.
    """
    if tendon not in TENDONS:
        raise ModelError(unknown_name("tendon", tendon, TENDONS))
    stated = bool(muscle.settings.get("ignore_tendon_compliance", False))
    return tendon == RIGID or (tendon == BY_FILE and stated)


def model_of(model: Model, muscle_model: MuscleModel | None) -> Sequence[MuscleModel]:
    """The muscle-tendon model of every muscle.

    Args:
        model: The model.
        muscle_model: One for all muscles; None: that of the kind of each.

    Raises:
        ModelError: There is no model for the kind of some muscles.
    """
    if muscle_model is not None:
        return [muscle_model] * len(model.muscles)
    unknown = sorted({one.kind for one in model.muscles} - set(MODELS_BY_KIND))
    if unknown:
        raise ModelError(
            f"model {model.name!r} has muscles of the kinds {', '.join(unknown)}; forces are "
            f"computed for {', '.join(MODELS_BY_KIND)}, and for all muscles with a given "
            "muscle_model"
        )
    return [MODELS_BY_KIND[one.kind] for one in model.muscles]


def traced_lengths_and_speeds(
    model: Model, q: Array, v: Array, wrapping: str
) -> tuple[list[Array], list[Array]]:
    """Lengths and lengthening speeds of all muscles over symbols.

    Args:
        model: The model.
        q: Positions, (nq,), symbolic.
        v: Velocities, (nv,), symbolic.
        wrapping: A rule of ``TANGENT_RULES``.

    Returns:
        Lengths, m, and speeds, m/s.
    """
    frames, paths = traced_paths(model, q, wrapping, "muscles")
    speeds = []
    for path in paths:
        arms = moment_arm_entries(frames, path)
        speeds.append(sum((-arm * v[entry] for entry, arm in arms.items()), start=ca.SX(0)))
    return [path.length for path in paths], speeds


@state_function(
    q="nq",
    v="nv",
    activation=lambda model: len(model.muscles),
    returns={"forces": lambda model, *a, **k: (len(model.muscles),)},
    checks={**FINITE_STATE, "activation": check_activations},
)
def forces(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    activation: ArrayInput,
    muscle_model: MuscleModel | None = None,
    wrapping: str = OPENSIM,
    tendon: str = BY_FILE,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Forces of all muscles along their paths.

    A compliant tendon is in equilibrium with its fibers and keeps its length for the moment, so
    that the fibers along it have all of the lengthening speed.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        activation: Activations, (..., muscles), 0 to 1.
        muscle_model: A muscle-tendon model for all muscles; that of the kind of each by default.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        tendon: ``"file"``: the tendons of muscles with ``ignore_tendon_compliance`` keep their
            slack length, all others are in equilibrium with their fibers; ``"rigid"`` or
            ``"compliant"``: that for all.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., muscles), N; positive where a muscle pulls.

    Raises:
        ModelError: The model has no muscles, none is known for the kind of one, ``tendon`` is
            unknown, an activation is not a number from 0 to 1, or a position or velocity is not
            finite.
        KernelError: An array has the wrong shape or type, or symbols are given for muscles with
            compliant tendons; the residuals of `homodyn.muscle.equilibrium` are the way there.
    """
    found = _traced_equilibrium(model, q, v, activation, (muscle_model, wrapping, tendon))
    return ca.vertcat(*found.forces)


@record
class ForceCapacity(Record):
    """What muscles with rigid tendons can do in a state: their force is active + passive."""

    active: np.ndarray
    """Active force at full activation, (..., muscles), N."""
    passive: np.ndarray
    """Force at the lowest activation, without the active part, (..., muscles), N."""


@state_function(
    q="nq",
    v="nv",
    returns={
        "active": lambda model, *a, **k: (len(model.muscles),),
        "passive": lambda model, *a, **k: (len(model.muscles),),
    },
    record=ForceCapacity,
    checks=FINITE_STATE,
)
def force_capacity(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    muscle_model: HillModel | None = None,
    wrapping: str = OPENSIM,
    *,
    parameters: ParameterValues | None = None,
) -> ForceCapacity:
    """Active force at full activation and passive force of all muscles, with rigid tendons.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        muscle_model: A model for all muscles; that of the kind of each by default.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.

    Returns:
        Both forces along the paths. The force at activation ``a`` is ``a * active + passive``; in
        the model of Thelen the factor of speed depends on activation too, so there it is so at
        full activation only.

    Raises:
        ModelError: The model has no muscles, or none is known for the kind of one.
        KernelError: An array has the wrong shape or type.
    """
    path_lengths, speeds = traced_lengths_and_speeds(model, q, v, wrapping)
    active, passive = [], []
    for k, (muscle, law) in enumerate(
        zip(model.muscles, model_of(model, muscle_model), strict=True)
    ):
        if not isinstance(law, HillModel):
            raise ModelError(
                f"{type(law).__name__} has no active and passive force; models derived from "
                "HillModel are accepted"
            )
        parts = law.rigid_tendon_forces(muscle, 1.0, path_lengths[k], speeds[k])
        active.append(parts.active)
        passive.append(parts.passive + parts.damping)
    return ForceCapacity(ca.vertcat(*active), ca.vertcat(*passive))


@record
class FiberEquilibrium(Record):
    """Fibers and tendons of all muscles in equilibrium."""

    fiber_length: np.ndarray
    """(..., muscles), m."""
    forces: np.ndarray
    """Forces of the tendons, (..., muscles), N."""
    status: np.ndarray
    """(..., muscles): 0 where both pull equally; 1 where the fibers are at their shortest length
    and could still pull more than the tendon; 2 where they would have to push, so that the force
    is zero."""


@state_function(
    q="nq",
    v="nv",
    activation=lambda model: len(model.muscles),
    returns=dict.fromkeys(
        ("fiber_length", "forces", "status"), lambda model, *a, **k: (len(model.muscles),)
    ),
    record=FiberEquilibrium,
    checks={**FINITE_STATE, "activation": check_activations},
)
def equilibrium(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    activation: ArrayInput,
    muscle_model: MuscleModel | None = None,
    wrapping: str = OPENSIM,
    tendon: str = BY_FILE,
    *,
    parameters: ParameterValues | None = None,
) -> FiberEquilibrium:
    """Lengths of all fibers and forces of all tendons in equilibrium; see `forces`.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        activation: Activations, (..., muscles), 0 to 1.
        muscle_model: A muscle-tendon model for all muscles; that of the kind of each by default.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        tendon: ``"file"``, ``"rigid"`` or ``"compliant"``.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.

    Returns:
        Lengths, forces and status.

    Raises:
        ModelError: The model has no muscles, none is known for the kind of one, ``tendon`` is
            unknown, an activation is not a number from 0 to 1, or a position or velocity is not
            finite.
        KernelError: An array has the wrong shape or type.
    """
    found = _traced_equilibrium(model, q, v, activation, (muscle_model, wrapping, tendon))
    lengths = [
        ca.sqrt(along**2 + (one.optimal_fiber_length * ca.sin(one.pennation_angle)) ** 2)
        for along, one in zip(found.along, model.muscles, strict=True)
    ]
    return FiberEquilibrium(
        ca.vertcat(*lengths), ca.vertcat(*found.forces), ca.vertcat(*found.status)
    )


def _traced_equilibrium(
    model: Model,
    q: Array,
    v: Array,
    activation: Array,
    choices: tuple[MuscleModel | None, str, str],
) -> TracedEquilibrium:
    """Equilibrium of all muscles: rigid tendons at once, compliant ones together in one loop."""
    muscle_model, wrapping, tendon = choices
    path_lengths, speeds = traced_lengths_and_speeds(model, q, v, wrapping)
    laws = model_of(model, muscle_model)
    along: list[Array] = []
    found: list[Array] = []
    status: list[Array] = []
    loose: list[int] = []
    for k, (muscle, law) in enumerate(zip(model.muscles, laws, strict=True)):
        if not is_rigid(muscle, tendon):
            if not isinstance(law, HillModel):
                raise ModelError(
                    f"muscle {muscle.name!r} has a compliant tendon, for which "
                    f"{type(law).__name__} has no curve; models derived from HillModel have one, "
                    'and tendon="rigid" needs none'
                )
            loose.append(k)
        force = law.tendon_force(muscle, activation[k], path_lengths[k], speeds[k])
        along.append(path_lengths[k] - muscle.tendon_slack_length)
        found.append(force)
        status.append(ca.if_else(force > 0, FOUND, UNLOADED))
    if loose:
        chosen = solve_equilibrium(
            [model.muscles[k] for k in loose],
            [law for k in loose if isinstance(law := laws[k], HillModel)],
            *([column[k] for k in loose] for column in (activation, path_lengths, speeds)),
        )
        for place, k in enumerate(loose):
            along[k], found[k] = chosen.along[place], chosen.forces[place]
            status[k] = chosen.status[place]
    return TracedEquilibrium(along, found, status)
