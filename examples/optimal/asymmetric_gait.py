"""A splint that keeps the left knee nearly straight: how two steps of a walker change."""

from double_step import LIMITS, problem

from homodyn.dynamics import position

SPLINT = {**LIMITS, "KneeLeft": (0.02, 0.25)}
"""rad."""


def step_lengths(solution):
    """How far (m) each foot comes down ahead of the other: the left one, then the right one."""
    model = solution.transcribed.model
    ends = [phase.q[-1] for phase in solution.phases]
    feet = [[float(position(model, q, f"Foot{s}")[0]) for s in ("Left", "Right")] for q in ends]
    return feet[0][0] - feet[0][1], feet[1][1] - feet[1][0]


def main(intervals=16):
    """The same two steps without and with the splint, the first being the guess of the second."""
    even = problem(intervals).solve()
    uneven = problem(intervals, limits=SPLINT).solve(guess=even)
    return even, uneven


if __name__ == "__main__":
    for found in main():
        left, right = step_lengths(found)
        print(f"{found.sentence}; left step {left:.3f} m, right step {right:.3f} m")
