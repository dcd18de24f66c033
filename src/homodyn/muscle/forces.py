"""Forces of all muscles at given activations."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.text import enumerate_names
from homodyn.model import Model
from homodyn.model.state_function import state_function
from homodyn.muscle.geometry.path_lines import moment_arm_entries
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.models.degroote_fregly2016 import DeGrooteFregly2016
from homodyn.muscle.models.muscle_model import MuscleModel
from homodyn.muscle.paths import traced_paths
from homodyn.spatial import Array, ArrayInput, ParameterValues

MODELS_BY_KIND: dict[str, MuscleModel] = {"DeGrooteFregly2016Muscle": DeGrooteFregly2016()}
"""Models by the kind that a muscle states."""


def model_of(model: Model, muscle_model: MuscleModel | None) -> list[MuscleModel]:
    """The muscle-tendon model of every muscle.

    Args:
        model: The model.
        muscle_model: One for all muscles; None: that of the kind of each.

    Raises:
        ModelError: There is no model for the kind of some muscles, or their tendons are compliant.
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
    compliant = [m.name for m in model.muscles if not m.settings.get("ignore_tendon_compliance")]
    if compliant:
        raise ModelError(
            f"model {model.name!r} has muscles with compliant tendons: "
            f"{enumerate_names(compliant)}; forces are computed with rigid tendons, for muscles "
            "with ignore_tendon_compliance = true, and for all muscles with a given muscle_model"
        )
    return [MODELS_BY_KIND[one.kind] for one in model.muscles]


@state_function(
    q="nq",
    v="nv",
    activation=lambda model: len(model.muscles),
    returns={"forces": lambda model, *a, **k: (len(model.muscles),)},
)
def forces(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    activation: ArrayInput,
    muscle_model: MuscleModel | None = None,
    wrapping: str = OPENSIM,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Forces of all muscles along their paths, with rigid tendons.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        activation: Activations, (..., muscles), 0 to 1.
        muscle_model: A muscle-tendon model for all muscles; that of the kind of each by default.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., muscles), N; positive where a muscle pulls.

    Raises:
        ModelError: The model has no muscles, or none is known for the kind of one.
        KernelError: An array has the wrong shape or type.
    """
    frames, paths = traced_paths(model, q, wrapping, "muscles")
    found: list[Array] = []
    rates: Array = v
    levels: Array = activation
    laws = model_of(model, muscle_model)
    for k, (muscle, law, path) in enumerate(zip(model.muscles, laws, paths, strict=True)):
        arms = moment_arm_entries(frames, path)
        speed = sum((-arm * rates[entry] for entry, arm in arms.items()), start=ca.SX(0))
        found.append(law.tendon_force(muscle, levels[k], path.length, speed))
    return ca.vertcat(*found)
