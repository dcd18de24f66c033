"""Movements that are best at something: problems of several phases and their solutions."""

from homodyn.optimal.applied import Load, push
from homodyn.optimal.between import Arrival
from homodyn.optimal.build import Built
from homodyn.optimal.capsules import apart, capsule_distance
from homodyn.optimal.conditions import (
    Condition,
    Link,
    coordinates,
    friction_cone,
    height,
    periodic,
    require,
    rest,
    step_length,
    unilateral,
    velocity,
)
from homodyn.optimal.culprits import Trial, culprits
from homodyn.optimal.explanation import Explanation, Group
from homodyn.optimal.instant import Instant
from homodyn.optimal.phase import Phase
from homodyn.optimal.problem import Parameter, Problem
from homodyn.optimal.solution import PhaseSolution, Solution, Status, Violation
from homodyn.optimal.springs import Spring
from homodyn.optimal.terms import (
    Term,
    acceleration,
    angular_momentum,
    contact_force,
    effort_per_distance,
    head_stabilisation,
    power,
    time,
    torque,
    torque_change,
    track,
    track_coordinates,
    track_force,
    track_markers,
)

__all__ = [
    "Arrival",
    "Built",
    "Condition",
    "Explanation",
    "Group",
    "Instant",
    "Link",
    "Load",
    "Parameter",
    "Phase",
    "PhaseSolution",
    "Problem",
    "Solution",
    "Spring",
    "Status",
    "Term",
    "Trial",
    "Violation",
    "acceleration",
    "angular_momentum",
    "apart",
    "capsule_distance",
    "contact_force",
    "coordinates",
    "culprits",
    "effort_per_distance",
    "friction_cone",
    "head_stabilisation",
    "height",
    "periodic",
    "power",
    "push",
    "require",
    "rest",
    "step_length",
    "time",
    "torque",
    "torque_change",
    "track",
    "track_coordinates",
    "track_force",
    "track_markers",
    "unilateral",
    "velocity",
]
