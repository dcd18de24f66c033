"""The numbers of unknowns and rows that Felis (2015), table 6.2, prints for his problems."""

import csv
from dataclasses import replace
from io import StringIO

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.catalog import mirror_map
from homodyn.dynamics.impact import Impact
from homodyn.gait.reconstruction import reconstruction_problem
from homodyn.gait.reconstruction.felis2015 import STAGES, zero_normal_force
from homodyn.motion import Motion
from homodyn.optimal.transcription import boundary_points, felis2015, multiple_shooting

# Labels as they are meant; intervals of the six stages (the third and fifth are touchdowns),
# unknowns, equations, inequalities (bounds counted twice each).
TABLE = """\
AngerExpressive2,6,12,1,3,1,1,3072,2376,6258
AngerExpressive3,8,10,1,3,1,1,3072,2376,6254
AngerExpressive4,8,12,1,3,1,1,3320,2568,6760
AngerSuppressive1,7,11,1,4,1,4,3568,2760,7271
AngerSuppressive2,9,8,1,3,1,3,3196,2472,6507
AngerSuppressive3,6,10,1,4,1,3,3196,2472,6513
Neutral1,6,13,1,3,1,5,3692,2856,7527
Neutral2,6,12,1,3,1,3,3320,2568,6766
Neutral3,7,10,1,5,1,2,3320,2568,6763
JoySelfsufficient1,9,10,1,3,1,5,3692,2856,7521
JoySelfsufficient2,5,13,1,4,1,4,3568,2760,7275
JoySelfsufficient3,6,12,1,4,1,5,3692,2856,7527
JoyExpressive1,7,13,1,4,1,2,3568,2760,7269
JoyExpressive2,5,13,1,3,1,2,3196,2472,6514
JoyExpressive3,6,12,1,3,1,2,3196,2472,6512
synthesis,10,2,1,2,1,2,2381,1887,4885
synthesis at a speed,10,2,1,2,1,2,2380,1887,4883
"""
ROWS = {row[0]: [int(x) for x in row[1:]] for row in csv.reader(StringIO(TABLE))}
RECONSTRUCTED = [name for name in ROWS if not name.startswith("synthesis")]


@pytest.fixture(scope="module")
def model():
    return hd.catalog.heiman()


@pytest.fixture
def without_dynamics(monkeypatch):
    """Sizes do not depend on the laws of motion, which take seconds to write down."""

    def no_motion(model, phase, q, v, tau):
        return ca.SX.zeros(model.nv), ca.SX.zeros(len(phase.contacts.rows))

    for module in (boundary_points, multiple_shooting):
        monkeypatch.setattr(module, "constrained_dynamics", no_motion)
    monkeypatch.setattr(
        felis2015, "impact", lambda model, q, v, contacts: Impact(v, None, None, None)
    )


def sizes(problem):
    """Unknowns besides durations, equations, and inequalities with both bounds of unknowns."""
    transcribed = problem.transcribe("felis2015")
    unknowns = len(transcribed.names) - len(transcribed.phases)
    lower = np.concatenate([block.lower.reshape(-1) for block in transcribed.blocks])
    upper = np.concatenate([block.upper.reshape(-1) for block in transcribed.blocks])
    equal = int((lower == upper).sum())
    return unknowns, equal, 2 * unknowns + len(lower) - equal


def intervals(name):
    n1, n2, _, n3, _, n4 = ROWS[name][:6]
    return n1, n2, n3, n4


@pytest.fixture(scope="module")
def stated(model):
    """The problem of a reconstruction with its four phases."""
    times = np.array([0.0, 0.3, 0.4, 0.47, 0.57])
    phases = [
        hd.gait.contact_schedule.FootContactPhase(begin, end, right, left)
        for begin, end, (right, left) in zip(times[:-1], times[1:], STAGES, strict=True)
    ]
    clock = np.linspace(0, 0.6, 61)
    still = np.zeros((61, model.nv))
    motion = Motion(model, clock, np.tile(model.neutral(), (61, 1)), still, still)
    problem, _ = reconstruction_problem(motion, phases=phases, preset="felis2015")
    return problem


@pytest.mark.parametrize("name", RECONSTRUCTED)
def test_reconstructions_have_the_printed_sizes(stated, name, without_dynamics):
    phases = [
        replace(phase, intervals=count)
        for phase, count in zip(stated.phases, intervals(name), strict=True)
    ]
    assert sizes(replace(stated, phases=phases)) == tuple(ROWS[name][6:])


def synthesis(model, name):
    """The periodic step of section 5.4: parameters, links and conditions as in its lists."""
    toes, landing = ("HalluxRight", "Meta5Right"), ("HeelLeft", "HalluxLeft", "Meta5Left")
    clearance = oc.require("shank distance", lambda i: i.position("ShankLeft")[1], upper=np.inf)
    falling = {"lower": -np.inf, "upper": 0.0}

    def from_start(*conditions):
        return [c.at(when) for c in conditions for when in ("start", "inside")]

    lists = [
        [
            oc.step_length("HalluxRight", "HalluxLeft", "length"),
            *from_start(oc.unilateral("HeelRight", *toes)),
            oc.height(*landing).at("inside"),
            clearance.at("inside"),
            zero_normal_force("HeelRight").at("end"),
        ],
        [
            *from_start(oc.unilateral(*toes), oc.height(*landing), clearance),
            oc.height("HeelRight").at("inside"),
            oc.velocity("HeelLeft", "z", **falling).at("end"),
            oc.unilateral(*toes).at("end"),
            oc.height("HalluxLeft", "HeelRight").at("end"),
            clearance.at("end"),
        ],
        [
            *from_start(oc.unilateral(*toes, "HeelLeft"), oc.height("HalluxLeft", "HeelRight")),
            *from_start(clearance),
            *(oc.velocity(n, "z", **falling).at("end") for n in ("HalluxLeft", "Meta5Left")),
            oc.unilateral(*toes, "HeelLeft").at("end"),
            oc.height("HeelRight").at("end"),
            clearance.at("end"),
        ],
        [
            *from_start(oc.unilateral(*toes, *landing), oc.height("HeelRight"), clearance),
            zero_normal_force(*toes).at("end"),
            oc.unilateral(*landing).at("end"),
            oc.height("HeelRight").at("end"),
            clearance.at("end"),
        ],
    ]
    phases = [
        oc.Phase(
            str(k),
            (0.05, 0.5),
            hd.gait.contact_schedule.FootContactPhase(0, 1, right, left).contacts,
            [oc.torque()],
            conditions,
            count,
            transition="impact" if k in (1, 2) else "continuous",
            periodic_start=k == 0,
            start={"q": {"Pelvis_TX": 0.0, "Pelvis_TY": 0.0}} if k == 0 else {},
        )
        for k, ((right, left), conditions, count) in enumerate(
            zip(STAGES, lists, intervals(name), strict=True)
        )
    ]
    parameters = {"length": oc.FreeParameter(0.1, 1.5, 0.6)}
    # Stiffness, rest and damping of the driven coordinates, those of both sides together.
    driven = {n.replace("Left", "Right") for n in model.coordinate_names[6:]}
    parameters |= {f"{what} {n}": oc.FreeParameter() for n in driven for what in ("k", "q0", "b")}
    if name == "synthesis":
        parameters["speed"] = oc.FreeParameter(0.1, 4.0, 1.4)
    image = mirror_map(model)

    def torques(first, last, between):
        return (first.tau - image.velocity(last.tau))[6:]

    speed = "speed" if name == "synthesis" else 1.5
    links = [
        oc.periodic(mirrored=True, forward="Pelvis_TX", speed=speed),
        oc.BoundaryConstraint("torques", torques),
    ]
    return oc.Problem(model, phases, parameters, links)


@pytest.mark.parametrize("name", ["synthesis", "synthesis at a speed"])
def test_syntheses_have_the_printed_sizes(model, name, without_dynamics):
    assert sizes(synthesis(model, name)) == tuple(ROWS[name][6:])
