"""Every exported dataclass is a record, or is in a list with the reason why not."""

import dataclasses
import importlib
import inspect
import json
import pkgutil

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import Hinge, Pin, PointContact, RollingSphere, Weld
from homodyn.dynamics.constraints import Stabilization
from homodyn.foundation import Record
from homodyn.foundation.record import MAX_REPR_LINES
from homodyn.simulate import (
    EventDrivenContact,
    HuntCrossleyContact,
    ImplicitSprings,
    SoftContact,
    TimeStepping,
)

SYMBOLIC = {
    "ActuationInput",
    "ActuationLoad",
    "ContactForces",
    "FiberForce",
    "FiberState",
    "Gap",
    "ImplicitRow",
    "JointRow",
    "KinematicPoint",
    "LimitRows",
    "LoopRow",
    "MusclePoint",
    "SignalInput",
    "StepProblem",
    "StepRow",
    "StepSample",
    "TaskRows",
    "TimePoint",
    "VelocityStep",
}
"""Hold symbols and exist while a function is traced."""
PARTS_OF_A_NETWORK = {"Equation", "MonitoredEvent", "NetworkEvent", "NetworkFunction", "Variable"}
"""Are edited through the network that owns them, which has text as its stored form."""
METHODS = {"ExplicitRungeKutta", "Leapfrog", "SemiImplicitEuler", "SolvedMethod"}
"""Integrators: entries of a table that are selected by name."""
INTERNAL = {
    "CandidateBatch",
    "ConstraintRow",
    "DragTarget",
    "EvaluationOutcomes",
    "Evaluator",
    "FastPath",
    "Pass",
    "RadauFactors",
    "RadauStep",
    "TranscribedProblem",
}
"""Pass between the parts of a search, a compiler, an integration, a transcription or a page."""
ABSTRACT = {"Measure"}
"""Bases of records that users derive from."""


def exported_classes() -> dict[str, type]:
    """Exported classes of all packages by name."""
    found = {}
    for module in pkgutil.walk_packages(hd.__path__, "homodyn."):
        if module.name.split(".")[1] in ("__main__", "bench", "cli"):
            continue
        package = importlib.import_module(module.name)
        for name in getattr(package, "__all__", ()):
            if inspect.isclass(value := getattr(package, name)):
                found[value.__name__] = value
    return found


def test_exported_dataclasses_are_records():
    plain = {
        name
        for name, kind in exported_classes().items()
        if dataclasses.is_dataclass(kind) and not issubclass(kind, Record)
    }
    assert plain == SYMBOLIC | PARTS_OF_A_NETWORK | METHODS | INTERNAL | ABSTRACT


def test_records_are_frozen_and_print_themselves_by_the_rules():
    records = {name: kind for name, kind in exported_classes().items() if issubclass(kind, Record)}
    assert len(records) > 200
    for name, kind in records.items():
        if dataclasses.is_dataclass(kind):
            assert kind.__dataclass_params__.frozen, name
            # A repr that dataclasses generate, which prints whole arrays, wraps another function.
            assert not hasattr(kind.__repr__, "__wrapped__"), name


def test_a_generated_repr_is_caught():
    assert hasattr(hd.simulate.geometry.Gap.__repr__, "__wrapped__")


STATEMENTS = (
    Stabilization.oscillator(10.0),
    Pin("hand", "bar", (0, 0, 0.1), stabilization=Stabilization.oscillator(5.0)),
    Hinge("rod", "crank", axis="y"),
    Weld("sole", anchor=np.array([0.1, 0.0, 0.0])),
    PointContact("heel", directions="xz"),
    PointContact("heel", directions=[(0, 0, 1.0)], anchor=(1, 2, 3)),
    RollingSphere("ball"),
    PointContact("heel") + Weld("hand"),
    SoftContact(stiffness={"*": 1e4, "heel": 2e4}, friction="mu"),
    ImplicitSprings(friction=0.5),
    TimeStepping(restitution=0.2),
    EventDrivenContact(impact="stick"),
    HuntCrossleyContact(stiffness={"*": 1e6, "heel": 2e6}, smooth=True),
)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: type(s).__name__)
def test_constraints_and_contact_laws_survive_a_round_trip(statement):
    stored = json.loads(json.dumps(statement.to_dict(), allow_nan=False))
    assert type(statement).from_dict(stored) == statement
    assert Record.from_dict(stored) == statement
    assert len(repr(statement).splitlines()) <= MAX_REPR_LINES
    assert type(statement).__name__ in statement.summary()
    assert statement._repr_html_().startswith("<b>")


def test_problems_and_phases_print_their_sizes():
    phase = hd.optimal.Phase("stand", 0.5, PointContact("heel"), terms=[hd.optimal.torque()])
    assert "'stand', 0.5 s, 20 intervals, 3 contact rows, 1 term" in repr(phase)
    assert "intervals" in phase.summary()
    problem = hd.optimal.Problem(hd.catalog.heiman(), [phase])
    assert repr(problem).startswith("Problem of HeiMan: 0 parameters, 0 boundary constraints")
    assert len(repr(problem).splitlines()) == 2
    assert "phases" in problem.summary()
