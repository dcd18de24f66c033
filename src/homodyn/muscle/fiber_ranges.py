"""Whether muscles work at sensible lengths of their fibers in a movement."""

from __future__ import annotations

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import enumerate_names
from homodyn.muscle.muscle_activations import MuscleActivations

MIN_NORM_LENGTH = 0.5
MAX_NORM_LENGTH = 1.5
"""Range of sensible fiber lengths, in optimal lengths. Fibers of a sarcomere pull actively from 0.5
to 1.6 (Gordon et al. 1966, J. Physiol. 184:170), and in walking, leg muscles stay between 0.6 and
1.4 (Arnold and Delp 2011, Phil. Trans. R. Soc. B 366:1530)."""


@record(eq=True)
class FiberRange(Record):
    """Lengths of the fibers of a muscle in a movement, in optimal fiber lengths."""

    muscle: str
    shortest: float
    longest: float
    sensible: bool
    """Whether both are within the stated range."""

    def headline(self) -> str:
        """Muscle and lengths."""
        verdict = "" if self.sensible else ", outside of the sensible range"
        return f"FiberRange of {self.muscle!r}: {self.shortest:.2f} to {self.longest:.2f}{verdict}"


def fiber_ranges(
    result: MuscleActivations, lower: float = MIN_NORM_LENGTH, upper: float = MAX_NORM_LENGTH
) -> tuple[FiberRange, ...]:
    """Lengths of the fibers of all muscles over a movement.

    A muscle outside of the range has a tendon slack length or an optimal fiber length that does not
    fit the paths of the model, or the movement is beyond what the model is made for.

    Args:
        result: The result of static optimization.
        lower: Shortest sensible length, in optimal fiber lengths.
        upper: Longest sensible length.

    Returns:
        One range per muscle of the result.

    Raises:
        HomodynError: The result has no fiber lengths.
    """
    if not result.fiber_lengths.size:
        raise HomodynError(
            "these activations have no fiber lengths: they were computed with "
            "force_length_velocity=False"
        )
    shortest, longest = result.fiber_lengths.min(axis=0), result.fiber_lengths.max(axis=0)
    return tuple(
        FiberRange(name, float(low), float(high), bool(lower <= low and high <= upper))
        for name, low, high in zip(result.muscles, shortest, longest, strict=True)
    )


def fiber_range_sentence(ranges: tuple[FiberRange, ...]) -> str:
    """Muscles outside of the sensible range, in one sentence.

    Args:
        ranges: The ranges of all muscles.

    Returns:
        The sentence without a full stop.
    """
    outside = [one for one in ranges if not one.sensible]
    span = f"{MIN_NORM_LENGTH:g} to {MAX_NORM_LENGTH:g} optimal fiber lengths"
    if not outside:
        return f"the fibers of all muscles stay within {span}"
    named = [f"{one.muscle} ({one.shortest:.2f} to {one.longest:.2f})" for one in outside]
    return (
        f"the fibers of {len(outside)} of {len(ranges)} muscles leave {span}: "
        f"{enumerate_names(named)}"
    )
