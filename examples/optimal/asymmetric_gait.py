"""A splint that keeps the left knee nearly straight: how two steps of a walker change."""

from double_step import LIMITS, problem

SPLINT = {**LIMITS, "KneeLeft": (0.02, 0.25)}
"""rad."""


def report(solution):
    """How long each foot stands (s), and how far each step goes (m)."""
    right, left = solution.phases
    lines = [solution.sentence]
    for phase in (right, left):
        gone = phase.q[-1, 0] - phase.q[0, 0]
        lines.append(f"{phase.name} foot stands {phase.duration:.3f} s, trunk moves {gone:.3f} m")
    return "\n".join(lines)


def main(intervals=16):
    """The same two steps without and with the splint, the first being the guess of the second."""
    even = problem(intervals).solve()
    uneven = problem(intervals, limits=SPLINT).solve(guess=even)
    return even, uneven


if __name__ == "__main__":
    for found in main():
        print(report(found))
