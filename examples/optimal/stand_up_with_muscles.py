"""From a squat to standing within one second by muscles: least excitations, or least energy."""

import numpy as np
from jump import HEEL, TOE, squat
from small_bodies import muscled_sitter

import homodyn as hd
import homodyn.optimal as oc
from homodyn.dynamics import ConstraintSet

RANGES = {"Thigh": (-1.9, 0.1), "Shank": (0.05, 1.8), "Foot": (-0.8, 0.4)}
"""Angles (rad) for which paths are fitted, and within which the body moves."""
BOUNDS = {"q": {"Trunk_ry": (-0.3, 1.5), **RANGES}, "v": (-12.0, 12.0), "excitation": (0.01, 1.0)}


def problem(terms=(), intervals=20):
    """At rest at both ends with a flat foot; the muscles begin in equilibrium."""
    low, high = squat(), squat(shank=0.1, bend=0.2, lean=0.0)
    half = squat(shank=0.3, bend=0.9, lean=0.35)
    model = muscled_sitter(np.array(list(half.values())))
    paths = hd.muscle.fit_polynomials(model, ranges=RANGES, wrapping="geodesic")
    rise = oc.Phase(
        "rise",
        1.0,
        ConstraintSet((TOE, HEEL)),
        terms or [oc.excitation()],
        [oc.unilateral("Toe", "Heel"), oc.rest().at("end"), oc.muscle_equilibrium()],
        intervals,
        bounds=BOUNDS,
        start={"q": low, "v": dict.fromkeys(low, 0.0)},
        end={"q": {name: high[name] for name in ("Trunk_ry", "Thigh", "Shank")}},
        guess={"q": np.array([list(low.values()), list(high.values())])},
    )
    return oc.Problem(model, [rise], muscles=oc.MuscleDrive(tendon="rigid", paths=paths))


def metabolic_energy(solution, cost=None):
    """Metabolic energy of the muscles (J/kg)."""
    motion = solution.motion
    history = hd.muscle.fiber_history(motion, motion.activations, wrapping="geodesic")
    power = hd.muscle.metabolic_power(history, cost)
    return power.energies.sum() / power.body_mass


if __name__ == "__main__":
    energy = [oc.metabolic_power(), 0.3 * oc.excitation()]
    for name, terms in (("excitations", []), ("energy", energy)):
        solution = problem(terms).solve()
        print(f"Least {name}: {solution.sentence}")
        print(f"  metabolic energy {metabolic_energy(solution):.2f} J/kg")
        levels = solution.phases[0].muscles.excitation
        for muscle, most in zip(solution.model.muscles, levels.max(axis=0), strict=True):
            print(f"  {muscle.name:14} {most:5.2f}")
