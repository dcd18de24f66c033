"""Checks of a model: statements, masses of people, symmetry, and the mass matrix in many poses.

On top of what `homodyn.model.checks` finds, this compares left with right and people with
anthropometric tables, and evaluates the mass matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from homodyn import dynamics
from homodyn.catalog.mirror import paired_names
from homodyn.errors import ModelError
from homodyn.foundation import Finding, Record, Severity, count_of, enumerate_names, record
from homodyn.model import Model, load
from homodyn.model.checks import check as check_statements
from homodyn.motion.clinical import coordinate_label

MAX_MASS_ASYMMETRY = 0.02
"""Relative difference of the masses of left and right that is accepted."""
MAX_INERTIA_ASYMMETRY = 0.05
"""Relative difference of the principal moments of left and right that is accepted."""
RANDOM_POSE_COUNT = 20
"""Random poses at which the mass matrix is evaluated."""
SINGULAR_CONDITION, POOR_CONDITION = 1e13, 1e9
"""Condition numbers from which the mass matrix is singular, or loses many digits."""
MIN_DIRECTION_SHARE = 0.1
"""Smallest entry of a singular direction that is named."""

BODY_PART_SHARES = {
    "head": (r"head|skull|cranium", 4.5, 9.5),
    "upper arm": (r"upper_?arm|humerus", 1.8, 4.0),
    "forearm": (r"lower_?arm|fore_?arm|radius|ulna", 1.0, 2.6),
    "hand": (r"hand", 0.3, 1.0),
    "thigh": (r"thigh|femur|upper_?leg", 8.5, 16.5),
    "shank": (r"shank|tibia|fibula|lower_?leg|calf", 3.3, 6.3),
    "foot": (r"foot|talus|calcn|toe", 0.9, 2.3),
}
"""Body parts by name, with the smallest and the largest share (%) of the body mass.

The range of Dempster (1955), Clauser (1969), Zatsiorsky (1983) and de Leva (1996), widened by a
tenth. The trunk is left out: what it includes differs between models.
"""
HUMAN_MASS_RANGE_KG = (15.0, 250.0)
"""Masses (kg) of people."""


@record
class ModelCheck(Record):
    """The findings about a model, most serious first."""

    name: str
    """Name of the model, or of its file if no model could be built."""
    model: Model | None
    """The model with the default values of its parameters; None if it could not be built."""
    findings: tuple[Finding, ...]
    """Errors, then warnings, then information."""

    def count(self, severity: Severity) -> int:
        """Number of findings of one severity.

        Args:
            severity: Error, warning or info.

        Returns:
            The number.
        """
        return sum(finding.severity is severity for finding in self.findings)

    def passes(self, *, strict: bool = False) -> bool:
        """Whether there are no errors.

        Args:
            strict: Whether warnings count as errors.

        Returns:
            True if there are none.
        """
        warnings = self.count(Severity.WARNING) if strict else 0
        return self.count(Severity.ERROR) + warnings == 0

    @property
    def sentence(self) -> str:
        """The number of findings of each severity."""
        words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
        counts = [
            count_of(self.count(severity), word)
            for severity, word in words.items()
            if self.count(severity)
        ]
        return f"{self.name}: {', '.join(counts) or 'no findings'}"

    def headline(self) -> str:
        """Name of the model and number of findings."""
        return f"ModelCheck of {self.sentence}"

    def summary(self) -> str:
        """All findings, one line each, and their number.

        Returns:
            The text.
        """
        return "\n".join([*map(str, self.findings), self.sentence])


def check_model_file(path: str | Path) -> ModelCheck:
    """Check the model in a file.

    A file with an invalid model is checked too: its violations are reported as errors. If the only
    violations are physically impossible inertias, the rest of the model is still checked.

    Args:
        path: A model file: ``.toml``, ``.lua``, ``.osim`` or ``.urdf``.

    Returns:
        The findings, most serious first. Its ``model`` is ``None`` if no model could be built.

    Raises:
        FormatError: The file does not exist, or cannot be read as a model file.
    """
    try:
        return check_model(load(path))
    except ModelError as error:
        violations = [Finding(Severity.ERROR, "validity", text) for text in error.reasons]
    name = Path(path).name
    try:
        measured = check_model(load(path, as_measured=True))
    except ModelError:
        return ModelCheck(name, None, tuple(violations))
    sentences = tuple(violation.sentence for violation in violations)
    others = [f for f in measured.findings if not any(s.startswith(f.sentence) for s in sentences)]
    return ModelCheck(measured.name, measured.model, (*violations, *others))


def check_model(model: Model) -> ModelCheck:
    """Check a model for errors and implausible values.

    Checks the statements of the model, the mass shares of human body parts, the symmetry of left
    and right, and the condition of the mass matrix in the neutral pose and in random poses.

    Args:
        model: The model. Open parameters take their default values.

    Returns:
        The findings, most serious first.
    """
    name = model.name
    if model.parameters:
        model = model.at(model.parameter_values)
    found = [
        *check_statements(model),
        *_mass_findings(model),
        *_symmetry_findings(model),
        *_mass_matrix_findings(model),
    ]
    found.sort(key=lambda finding: finding.severity.rank)
    return ModelCheck(name, model, tuple(found))


def _mass_findings(model: Model) -> Iterator[Finding]:
    bodies = count_of(len(model.bodies), "body", "bodies")
    yield _info("mass", f"{model.mass:.4g} kg in {bodies}")
    shares = _mass_shares(model)
    low, high = HUMAN_MASS_RANGE_KG
    is_person = {"thigh", "shank", "foot"} <= set(shares) and low < model.mass < high
    if not is_person:
        return
    for part, share in shares.items():
        _, smallest, largest = BODY_PART_SHARES[part]
        if not smallest <= share <= largest:
            yield _info(
                "mass",
                f"one {part} has {share:.2g} % of the mass; of people it has {smallest:g} to "
                f"{largest:g} %",
            )


def _mass_shares(model: Model) -> dict[str, float]:
    """Share (%) of the total mass of each body part of one side, by the names of the bodies."""
    pairs = paired_names(model)
    shares: dict[str, float] = {}
    for part, (pattern, *_) in BODY_PART_SHARES.items():
        bodies = [body for body in model.bodies if re.search(pattern, body.name, re.IGNORECASE)]
        mass = sum(body.mass for body in bodies)
        sides = 2 if any(pairs[body.name] != body.name for body in bodies) else 1
        if mass > 0:
            shares[part] = 100 * mass / sides / model.mass
    return shares


def _symmetry_findings(model: Model) -> Iterator[Finding]:
    pairs = paired_names(model)
    for name, other in pairs.items():
        if name not in model.body_names or name >= other:
            continue
        one, two = model.body(name), model.body(other)
        difference = abs(one.mass - two.mass) / (max(one.mass, two.mass) or 1.0)
        if difference > MAX_MASS_ASYMMETRY:
            yield _warning(
                "symmetry",
                f"the masses of {name!r}, {one.mass:.4g} kg, and {other!r}, {two.mass:.4g} kg, "
                f"differ by {100 * difference:.2g} %",
            )
        moments = [np.linalg.eigvalsh(body.inertia) for body in (one, two)]
        difference = float(np.abs(moments[0] - moments[1]).max() / (np.max(moments) or 1.0))
        if difference > MAX_INERTIA_ASYMMETRY:
            yield _warning(
                "symmetry",
                f"the inertias of {name!r} and {other!r} differ by {100 * difference:.2g} %",
            )


def _mass_matrix_findings(model: Model) -> Iterator[Finding]:
    """Whether the mass matrix can be inverted in the neutral pose and in random ones."""
    if model.nv == 0:
        yield _info("mass matrix", "the model has no degrees of freedom")
        return
    poses = np.vstack([model.neutral(), model.random(0, RANDOM_POSE_COUNT)])
    matrices = dynamics.mass_matrix(model, poses)
    if not np.isfinite(matrices).all():
        yield Finding(Severity.ERROR, "mass matrix", "it is not finite in some poses")
        return
    values = np.linalg.eigvalsh(matrices)
    condition = np.abs(values).max(axis=1) / np.maximum(np.abs(values).min(axis=1), 1e-300)
    singular = (values[:, 0] <= 0) | (condition > SINGULAR_CONDITION)
    if singular[0]:
        massless = [coordinate_label(model, n) for n in _massless_coordinates(model, matrices[0])]
        yield Finding(
            Severity.ERROR,
            "mass matrix",
            "it is not positive definite in the neutral pose; coordinates without inertia: "
            f"{enumerate_names(massless)}",
        )
    elif singular.any():
        yield _warning(
            "mass matrix",
            f"it is singular in {int(singular.sum())} of {RANDOM_POSE_COUNT} random poses",
        )
    worst = condition.max()
    text = f"condition number {condition[0]:.2g} in the neutral pose, at most {worst:.2g}"
    is_poor = not singular.any() and worst > POOR_CONDITION
    yield _warning("mass matrix", text) if is_poor else _info("mass matrix", text)


def _massless_coordinates(model: Model, matrix: np.ndarray) -> list[str]:
    """Coordinates of the direction with the smallest eigenvalue, the largest entries first."""
    _, directions = np.linalg.eigh(matrix)
    largest = np.argsort(-np.abs(directions[:, 0]))[:3]
    return [
        model.coordinate_names[k] for k in largest if abs(directions[k, 0]) > MIN_DIRECTION_SHARE
    ]


def _warning(subject: str, sentence: str) -> Finding:
    return Finding(Severity.WARNING, subject, sentence)


def _info(subject: str, sentence: str) -> Finding:
    return Finding(Severity.INFO, subject, sentence)
