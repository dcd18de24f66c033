"""``homodyn model check``: everything that can be said against a model, most serious first.

On top of what `homodyn.model.checks` finds, this compares left with right, people with tables of
people, and looks at the mass matrix in many poses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from homodyn import dynamics
from homodyn.catalog.mirror import paired_names
from homodyn.errors import ModelError
from homodyn.foundation import Finding, Severity, enumerate_names
from homodyn.model import Model, load
from homodyn.model.checks import check as check_statements

MAX_MASS_ASYMMETRY = 0.02
"""Part by which masses of left and right may differ."""
MAX_INERTIA_ASYMMETRY = 0.05
"""Part by which principal moments of left and right may differ."""
RANDOM_POSE_COUNT = 20
SINGULAR_CONDITION, POOR_CONDITION = 1e13, 1e9
"""Condition numbers of the mass matrix from which on it is singular, or loses many digits."""

BODY_PART_SHARES = {
    "head": (r"head|skull|cranium", 4.5, 9.5),
    "upper arm": (r"upper_?arm|humerus", 1.8, 4.0),
    "forearm": (r"lower_?arm|fore_?arm|radius|ulna", 1.0, 2.6),
    "hand": (r"hand", 0.3, 1.0),
    "thigh": (r"thigh|femur|upper_?leg", 8.5, 16.5),
    "shank": (r"shank|tibia|fibula|lower_?leg|calf", 3.3, 6.3),
    "foot": (r"foot|talus|calcn|toe", 0.9, 2.3),
}
"""Body parts by name, and the least and the largest share (%) of the body's mass each has.

The widest of Dempster (1955), Clauser (1969), Zatsiorsky (1983) and de Leva (1996), with a tenth to
spare. The trunk is left out: what it includes differs between models.
"""
HUMAN_MASS_RANGE_KG = (15.0, 250.0)
"""Masses (kg) of people."""


@dataclass(frozen=True)
class ModelCheck:
    """The findings on a model, most serious first; no model where it cannot be made at all."""

    name: str
    model: Model | None
    findings: tuple[Finding, ...]

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def passes(self, *, strict: bool = False) -> bool:
        """Whether there is no error and, when strict, no warning either."""
        warnings = self.count(Severity.WARNING) if strict else 0
        return self.count(Severity.ERROR) + warnings == 0

    @property
    def sentence(self) -> str:
        """One sentence on all of them."""
        words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
        counts = [(self.count(severity), word) for severity, word in words.items()]
        told = ", ".join(f"{n} {word}{'s' if n != 1 else ''}" for n, word in counts if n)
        return f"{self.name}: {told or 'nothing to remark'}"

    def to_dict(self) -> dict[str, Any]:
        """As plain dictionaries and lists."""
        return {
            "model": self.name,
            "sound": self.passes(),
            "findings": [
                {"severity": str(f.severity), "subject": f.subject, "sentence": f.sentence}
                for f in self.findings
            ],
        }


def check_model_file(path: str | Path) -> ModelCheck:
    """Check the model in a file.

    A file with an invalid model is checked too: its faults are reported as errors. If physically
    impossible inertias are the only faults, the rest of the model is still checked.

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
        faults = [Finding(Severity.ERROR, "validity", fault) for fault in error.faults]
    name = Path(path).name
    try:
        measured = check_model(load(path, as_measured=True))
    except ModelError:
        return ModelCheck(name, None, tuple(faults))
    said = tuple(fault.sentence for fault in faults)
    others = [f for f in measured.findings if not any(s.startswith(f.sentence) for s in said)]
    return ModelCheck(measured.name, measured.model, (*faults, *others))


def check_model(model: Model) -> ModelCheck:
    """Check a model for faults and implausible values.

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
    found = [*check_statements(model), *_masses(model), *_symmetry(model), *_mass_matrix(model)]
    order = list(Severity)
    found.sort(key=lambda finding: order.index(finding.severity))
    return ModelCheck(name, model, tuple(found))


def _masses(model: Model) -> Iterator[Finding]:
    yield _info("mass", f"{model.mass:.4g} kg in {len(model.bodies)} bodies")
    shares = _shares(model)
    person = {"thigh", "shank", "foot"} <= set(shares) and HUMAN_MASS_RANGE_KG[
        0
    ] < model.mass < HUMAN_MASS_RANGE_KG[1]
    if not person:
        return
    for part, share in shares.items():
        _, least, most = BODY_PART_SHARES[part]
        if not least <= share <= most:
            yield _info(
                "mass",
                f"one {part} has {share:.2g} % of the mass; of people it has {least:g} to "
                f"{most:g} %",
            )


def _shares(model: Model) -> dict[str, float]:
    """Share of the whole (%) of each body part of one side, from the names of bodies."""
    pairs = paired_names(model)
    shares: dict[str, float] = {}
    for part, (pattern, *_) in BODY_PART_SHARES.items():
        bodies = [body for body in model.bodies if re.search(pattern, body.name, re.IGNORECASE)]
        mass = sum(body.mass for body in bodies)
        sides = 2 if any(pairs[body.name] != body.name for body in bodies) else 1
        if mass > 0:
            shares[part] = 100 * mass / sides / model.mass
    return shares


def _symmetry(model: Model) -> Iterator[Finding]:
    pairs = paired_names(model)
    for name, other in pairs.items():
        if name not in model.body_names or name >= other:
            continue
        one, two = model.body(name), model.body(other)
        off = abs(one.mass - two.mass) / (max(one.mass, two.mass) or 1.0)
        if off > MAX_MASS_ASYMMETRY:
            yield _warning(
                "symmetry",
                f"{name!r} has {one.mass:.4g} kg but {other!r} {two.mass:.4g} kg, "
                f"{100 * off:.2g} % apart",
            )
        moments = [np.linalg.eigvalsh(body.inertia) for body in (one, two)]
        off = float(np.abs(moments[0] - moments[1]).max() / (np.max(moments) or 1.0))
        if off > MAX_INERTIA_ASYMMETRY:
            yield _warning(
                "symmetry", f"the inertias of {name!r} and {other!r} are {100 * off:.2g} % apart"
            )


def _mass_matrix(model: Model) -> Iterator[Finding]:
    """Whether the mass matrix can be inverted in the neutral pose and in random ones."""
    if model.nv == 0:
        yield _info("mass matrix", "nothing can move")
        return
    poses = np.vstack([model.neutral(), model.random(0, RANDOM_POSE_COUNT)])
    matrices = dynamics.mass_matrix(model, poses)
    if not np.isfinite(matrices).all():
        yield Finding(Severity.ERROR, "mass matrix", "it is not finite in some pose")
        return
    values = np.linalg.eigvalsh(matrices)
    condition = np.abs(values).max(axis=1) / np.maximum(np.abs(values).min(axis=1), 1e-300)
    bad = (values[:, 0] <= 0) | (condition > SINGULAR_CONDITION)
    if bad[0]:
        _, directions = np.linalg.eigh(matrices[0])
        least = np.argsort(-np.abs(directions[:, 0]))[:3]
        moving = [model.coordinate_names[k] for k in least if abs(directions[k, 0]) > 0.1]
        yield Finding(
            Severity.ERROR,
            "mass matrix",
            f"it is not positive definite in the neutral pose, where {enumerate_names(moving)} "
            "move no mass",
        )
    elif bad.any():
        yield _warning(
            "mass matrix", f"it is singular in {int(bad.sum())} of {RANDOM_POSE_COUNT} random poses"
        )
    worst = condition.max()
    told = f"condition number {condition[0]:.2g} in the neutral pose, at worst {worst:.2g}"
    doubtful = not bad.any() and worst > POOR_CONDITION
    yield _warning("mass matrix", told) if doubtful else _info("mass matrix", told)


def _warning(subject: str, sentence: str) -> Finding:
    return Finding(Severity.WARNING, subject, sentence)


def _info(subject: str, sentence: str) -> Finding:
    return Finding(Severity.INFO, subject, sentence)
