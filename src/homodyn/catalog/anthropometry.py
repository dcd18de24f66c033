"""Tables of the human body: how long, how heavy and how massed its segments are."""

from __future__ import annotations

from dataclasses import dataclass

from homodyn.catalog.data_tables import table_rows
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Body
from homodyn.spatial import Array

STATURE = {"male": 1.741, "female": 1.735}
"""Mean statures (m) of the people of de Leva (1996)."""
MASS = {"male": 73.0, "female": 61.9}
"""Mean masses (kg) of the people of de Leva (1996)."""


@dataclass(frozen=True)
class SegmentParameters:
    """One segment of a table, between two end points.

    ``length`` is a part of the stature, ``mass`` of the body mass; ``com`` (from the first end
    point) and ``gyration`` (about axes that point forwards, sideways and along the segment) are
    parts of the length.
    """

    name: str
    endpoints: str
    length: float
    mass: float
    com: float
    gyration: tuple[float, float, float]

    def body(
        self,
        name: str,
        height: Array,
        mass: Array,
        *,
        length: Array | None = None,
        upwards: bool = False,
    ) -> Body:
        """The segment of a person of ``height`` (m) and ``mass`` (kg), long along z.

        The origin is the first end point; the segment hangs down from it, or stands up with
        ``upwards``. ``length`` (m) replaces the one in the table.
        """
        long = self.length * height if length is None else length
        own = self.mass * mass
        com = self.com * long if upwards else -self.com * long
        return Body(name, own, (0.0, 0.0, com), [own * (r * long) ** 2 for r in self.gyration])

    def from_distal_end(self) -> SegmentParameters:
        """The same segment counted from its other end point."""
        first, _, last = self.endpoints.partition("-")
        return SegmentParameters(
            self.name, f"{last}-{first}", self.length, self.mass, 1.0 - self.com, self.gyration
        )


def de_leva(segment: str, sex: str = "male", endpoints: str = "") -> SegmentParameters:
    """A body segment from table 4 of de Leva (1996): ``de_leva("shank", "female", "KJC-AJC")``.

    Args:
        segment: One of head, trunk, upper trunk, middle trunk, lower trunk, upper arm, forearm,
            hand, thigh, shank and foot.
        sex: ``"male"`` or ``"female"``.
        endpoints: The two end points between which the segment is defined, such as ``"KJC-AJC"``.
            If empty, the first definition in the table is used.

    Returns:
        Length as a fraction of stature, mass as a fraction of body mass, centre of mass and radii
        of gyration as fractions of the segment's length.

    Raises:
        ModelError: The table has no such segment, sex or end points.
    """
    table = table_rows("de_leva_1996")
    for what, value, column in (("sex", sex, "sex"), ("segment", segment, "segment")):
        known = dict.fromkeys(row[column] for row in table)
        if value not in known:
            raise ModelError(f"de Leva 1996 has {unknown_name(what, value, known)}")
    fitting = [row for row in table if row["sex"] == sex and row["segment"] == segment]
    named = [row for row in fitting if endpoints in ("", row["endpoints"])]
    if not named:
        known = dict.fromkeys(row["endpoints"] for row in fitting)
        raise ModelError(
            f"de Leva 1996: {segment} has {unknown_name('end points', endpoints, known)}"
        )
    row = named[0]
    gyration = [float(row[axis]) for axis in ("sagittal", "transverse", "longitudinal")]
    return SegmentParameters(
        segment,
        row["endpoints"],
        float(row["length"]) / STATURE[sex],
        float(row["mass"]),
        float(row["com"]),
        (gyration[0], gyration[1], gyration[2]),
    )
