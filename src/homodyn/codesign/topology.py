"""Topologies of a wearable robot on a leg: the linkage, numbered joints and pairs of actuators."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from homodyn.codesign.enumeration import LEG, enumerate_linkages
from homodyn.codesign.linkage import Linkage, LinkPair, mobility
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

JointPair = tuple[int, int]
"""Numbers of two joints of a robot, counted from 1."""


@record(eq=True)
class Topology(Record):
    """A linkage whose joints have numbers: attachments to the body first, then robot joints."""

    number: int
    """Position in the list of topologies, from 1."""
    linkage: Linkage
    """Its joints are in the order of their numbers."""
    shared_pins: tuple[JointPair, ...] = ()
    """Pairs of joints on one pin: an attachment that joins three links."""
    closure_joints: tuple[int, ...] = ()
    """Joints that close loops where the robot is a tree that hangs on the body."""
    assumed: str = ""
    """What is assumed about the numbers; empty where the source leaves one possibility."""

    @cached_property
    def pairs(self) -> tuple[JointPair, ...]:
        """Pairs of joints whose actuators control the whole linkage, by the collapse test.

        Welding the first joint must remove a degree of freedom, and welding the second one another
        (van den Kieboom 2014, section 5.2.2), for a linkage of mobility 2.
        """
        numbers = range(1, len(self.linkage.joints) + 1)
        return tuple(pair for pair in combinations(numbers, 2) if self.controls(*pair))

    @cached_property
    def mobility(self) -> int:
        """Degrees of freedom relative to the first segment, in a generic geometry."""
        return mobility(self.linkage)

    @property
    def free_joints(self) -> tuple[int, ...]:
        """Numbers of joints between robot links: their places are free."""
        return tuple(
            number
            for number, pair in enumerate(self.linkage.joints, start=1)
            if not self.linkage.is_attachment(pair)
        )

    @property
    def attachments(self) -> dict[str, int]:
        """Number of the joint whose place on each segment is a parameter."""
        followers = {second for _, second in self.shared_pins}
        return {
            segment: number
            for segment in self.linkage.segments
            for number, pair in enumerate(self.linkage.joints, start=1)
            if segment in pair and number not in followers
        }

    def links_of(self, joint: int) -> LinkPair:
        """The two links of a joint.

        Args:
            joint: Its number.

        Returns:
            Names of the links.

        Raises:
            HomodynError: The topology has no joint of that number.
        """
        count = len(self.linkage.joints)
        if joint not in range(1, count + 1):
            raise HomodynError(f"topology {self.number} has joints 1 to {count}, got {joint!r}")
        return self.linkage.joints[joint - 1]

    def controls(self, *joints: int) -> bool:
        """Whether actuators at these joints control the linkage: the collapse test.

        Args:
            joints: Numbers of joints; each is welded in turn and must remove one degree of freedom.

        Returns:
            True if nothing can move when all of them are welded, and none is redundant.

        Raises:
            HomodynError: The topology has no joint of that number.
        """
        welded: tuple[int, ...] = ()
        for joint in joints:
            self.links_of(joint)
            welded = (*welded, joint - 1)
            if mobility(self.linkage, welded) != self.mobility - len(welded):
                return False
        return len(joints) == self.mobility

    def draw(self, axes: Axes | None = None) -> Axes:
        """Draw the linkage on a schematic leg.

        Args:
            axes: Axes of matplotlib; new ones by default.

        Returns:
            The axes.
        """
        from homodyn.codesign.drawing import draw_topology

        return draw_topology(self, axes)

    def headline(self) -> str:
        """Number, mobility and pairs."""
        return f"Topology {self.number}: mobility {self.mobility}, {len(self.pairs)} actuator pairs"


def topologies(robot_links: int = 4, segments: tuple[str, ...] = LEG) -> list[Topology]:
    """The topologies of a robot with given links on given body segments.

    Four links on torso, thigh and shank give the ten topologies of van den Kieboom (2014), figure
    5.5, with the joint numbers of table 5.1: 1, 2 and 3 are the attachments to torso, thigh and
    shank. Other sizes are numbered in the order of their enumeration.

    Args:
        robot_links: Number of links of the robot, even.
        segments: Body segments from proximal to distal.

    Returns:
        The topologies, in the order of their numbers.

    Raises:
        HomodynError: The numbers admit no linkage, or there are too many to enumerate.
    """
    found = enumerate_linkages(robot_links, segments)
    if (robot_links, segments) == (4, LEG):
        return _published_topologies(found)
    return [
        Topology(number, _attachments_first(linkage)) for number, linkage in enumerate(found, 1)
    ]


def _attachments_first(linkage: Linkage) -> Linkage:
    """The linkage with attachments first, in the order of the segments."""

    def place(pair: LinkPair) -> int:
        at = [linkage.segments.index(link) for link in pair if link in linkage.segments]
        return at[0] if at else len(linkage.segments)

    ordered = tuple(sorted(linkage.joints, key=place))
    return Linkage(linkage.segments, linkage.robot_links, ordered)


_FIRST_LOOPS, _LAST_LOOPS = (2, 3), (1, 2)
"""Closure joints of topologies 1 to 5 and 6 to 10: caption of figure 5.5."""
_SAME_AS_8 = "topologies 4 and 8 have the same pairs; which is which is assumed"
_SAME_AS_9 = "topologies 6 and 9 have the same pairs; which is which is assumed"
_COMPLETE = "topologies 5, 7 and 10 have all pairs; which is which is assumed"

# Figure 5.5 is an image that is lost. These are the classes of the enumeration, with numbers that
# reproduce every row of table 5.1. A joint is written as its two links: T, U, L are torso, thigh
# (upper leg) and shank (lower leg); a comma separates joints 1 to 6.
_PUBLISHED_TOPOLOGIES = (
    ("TA, BU, DL, AB, UC, CD", ((2, 5),), _FIRST_LOOPS, ""),
    ("TA, BU, DL, AB, TC, CD", ((1, 5),), _FIRST_LOOPS, ""),
    ("TA, UC, BL, AB, DL, CD", ((3, 5),), _FIRST_LOOPS, ""),
    ("TA, BU, DL, AB, BC, CD", (), _FIRST_LOOPS, _SAME_AS_8),
    ("TA, DU, BL, AB, BC, CD", (), _FIRST_LOOPS, _COMPLETE),
    ("DT, BU, LA, BC, CD, AB", (), _LAST_LOOPS, _SAME_AS_9),
    ("BT, DU, LA, AB, BC, CD", (), _LAST_LOOPS, _COMPLETE),
    ("BT, UA, DL, AB, BC, CD", (), _LAST_LOOPS, _SAME_AS_8),
    ("DT, UA, BL, BC, CD, AB", (), _LAST_LOOPS, _SAME_AS_9),
    ("TA, UB, LC, AD, BD, CD", (), _LAST_LOOPS, _COMPLETE),
)


def _published_topologies(found: list[Linkage]) -> list[Topology]:
    """The enumerated linkages under the numbers of table 5.1."""
    letters = dict(zip("TUL", LEG, strict=True))
    result = []
    for number, (text, pins, closures, assumed) in enumerate(_PUBLISHED_TOPOLOGIES, start=1):
        joints = tuple(
            (letters.get(pair[0], pair[0]), letters.get(pair[1], pair[1]))
            for pair in text.split(", ")
        )
        linkage = Linkage(LEG, ("A", "B", "C", "D"), joints)
        if not any(one.is_equivalent(linkage) for one in found):
            raise HomodynError(f"topology {number} is not among the enumerated linkages")
        result.append(Topology(number, linkage, pins, closures, assumed))
    return result
