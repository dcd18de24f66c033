"""The effect of a splint that keeps the left knee nearly straight on two steps of a walker."""

from double_step import LIMITS, problem

from homodyn.dynamics import position

SPLINT = {**LIMITS, "KneeLeft": (0.02, 0.25)}
"""Joint limits with the splint (rad)."""


def step_lengths(solution):
    """Step lengths (m): of the left foot, then of the right foot."""
    model = solution.transcribed.model
    ends = [phase.q[-1] for phase in solution.phases]
    feet = [[float(position(model, q, f"Foot{s}")[0]) for s in ("Left", "Right")] for q in ends]
    return feet[0][0] - feet[0][1], feet[1][1] - feet[1][0]


def main(intervals=16):
    """Two steps without and with the splint; the first solution is the guess of the second."""
    symmetric = problem(intervals).solve()
    asymmetric = problem(intervals, limits=SPLINT).solve(guess=symmetric)
    return symmetric, asymmetric


if __name__ == "__main__":
    for solution in main():
        left, right = step_lengths(solution)
        print(f"{solution.sentence}; left step {left:.3f} m, right step {right:.3f} m")
