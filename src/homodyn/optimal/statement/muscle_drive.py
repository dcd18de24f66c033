"""Muscles of an optimal-control problem: which models, tendons and paths, and their variables."""

from __future__ import annotations

from homodyn.errors import HomodynError, ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import enumerate_names
from homodyn.model import Model
from homodyn.muscle.forces import BY_FILE, is_rigid, model_of
from homodyn.muscle.geometry.tangent_rule import GEODESIC, check_tangent_rule
from homodyn.muscle.models.degroote_fregly2016 import DeGrooteFregly2016
from homodyn.muscle.models.muscle_model import HillModel
from homodyn.muscle.path_geometry import check_polynomials
from homodyn.muscle.path_polynomials import PathPolynomials

ACTIVATION, TENDON_FORCE = "activation", "tendon_force"
EXCITATION, TENDON_FORCE_RATE = "excitation", "tendon_force_rate"
MUSCLE_STATES = (ACTIVATION, TENDON_FORCE)
MUSCLE_CONTROLS = (EXCITATION, TENDON_FORCE_RATE)
MUSCLE_QUANTITIES = (*MUSCLE_STATES, *MUSCLE_CONTROLS)
"""Variables of muscles: activations (0 to 1), forces of compliant tendons in maximal isometric
forces, excitations (0 to 1), and rates of the tendon forces (1/s)."""


@record
class MuscleDrive(Record):
    """The muscles of the model act, and their excitations are controls.

    The activation of a muscle is a state, unless its file leaves out activation dynamics: it is
    then equal to the excitation. A compliant tendon adds its force as a state, whose rate is a
    control (De Groote et al. 2016, implicit form).
    """

    tendon: str = BY_FILE
    """``"file"``, ``"rigid"`` or ``"compliant"``; see `homodyn.muscle.forces`."""
    muscle_model: HillModel | None = None
    """A model for all muscles; that of the kind of each by default. Compliant tendons need that of
    De Groote and Fregly, which is smooth everywhere."""
    paths: PathPolynomials | None = None
    """Fitted lengths of `homodyn.muscle.fit_polynomials`; None: the paths themselves."""
    wrapping: str = GEODESIC
    """How paths wrap where ``paths`` is left out: ``"geodesic"`` or ``"opensim"``."""

    def __post_init__(self) -> None:
        check_tangent_rule(self.wrapping)

    def headline(self) -> str:
        """Tendons, model and paths."""
        law = (
            "models of the file" if self.muscle_model is None else type(self.muscle_model).__name__
        )
        paths = "polynomials" if self.paths is not None else f"{self.wrapping} paths"
        return f"MuscleDrive: tendons {self.tendon}, {law}, {paths}"

    def laws(self, model: Model) -> list[HillModel]:
        """The muscle-tendon model of every muscle.

        Args:
            model: The model.

        Returns:
            One per muscle.

        Raises:
            ModelError: The model has no muscles, none is known for the kind of some, one has no
                dynamics, or a compliant tendon has no smooth model.
        """
        if not model.muscles:
            raise ModelError(
                f"model {model.name!r} has no muscles; muscles are read from .osim files"
            )
        if self.paths is not None:
            check_polynomials(model, self.paths)
        laws = []
        for muscle, law in zip(model.muscles, model_of(model, self.muscle_model), strict=True):
            if not isinstance(law, HillModel):
                raise ModelError(
                    f"muscle {muscle.name!r}: {type(law).__name__} has no dynamics; models derived "
                    "from HillModel are accepted"
                )
            smooth = isinstance(law, DeGrooteFregly2016)
            if not is_rigid(muscle, self.tendon) and not smooth:
                raise ModelError(
                    f"muscle {muscle.name!r} has a compliant tendon and {type(law).__name__} no "
                    "implicit form; accepted are muscle_model=DeGrooteFregly2016() and "
                    "tendon='rigid'"
                )
            laws.append(law)
        return laws

    def variable_names(self, model: Model, quantity: str) -> tuple[str, ...]:
        """Names of the muscles that have a variable.

        Args:
            model: The model.
            quantity: One of ``MUSCLE_QUANTITIES``.

        Returns:
            Names in the order of the model.
        """
        if quantity == EXCITATION:
            chosen = list(model.muscles)
        elif quantity == ACTIVATION:
            flag = "ignore_activation_dynamics"
            chosen = [one for one in model.muscles if not one.settings.get(flag, False)]
        elif quantity in (TENDON_FORCE, TENDON_FORCE_RATE):
            chosen = [one for one in model.muscles if not is_rigid(one, self.tendon)]
        else:
            raise HomodynError(
                f"muscles have no {quantity!r}; {enumerate_names(MUSCLE_QUANTITIES)} are accepted"
            )
        return tuple(one.name for one in chosen)
