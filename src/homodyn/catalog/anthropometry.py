"""Anthropometric tables: lengths, masses, centers of mass and radii of gyration of segments."""

from __future__ import annotations

from homodyn.catalog.data_tables import table_rows
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Body
from homodyn.spatial import Array

MEAN_STATURE_M = {"male": 1.741, "female": 1.735}
"""Mean statures of the subjects of de Leva (1996)."""
MEAN_MASS_KG = {"male": 73.0, "female": 61.9}
"""Mean masses of the subjects of de Leva (1996)."""


@record(eq=True)
class SegmentParameters(Record):
    """One segment of an anthropometric table, between two end points."""

    name: str
    endpoints: str
    """Such as ``"KJC-AJC"``."""
    length: float
    """Fraction of the stature."""
    mass: float
    """Fraction of the body mass."""
    com: float
    """Distance of the center of mass from the first end point, as a fraction of the length."""
    gyration: tuple[float, float, float]
    """Radii of gyration about the forward, lateral and long axis, as fractions of the length."""

    def body(
        self,
        name: str,
        height: Array,
        mass: Array,
        *,
        length: Array | None = None,
        upwards: bool = False,
    ) -> Body:
        """The segment of a person, along z, with its origin at the first end point.

        Args:
            name: Name of the body.
            height: Stature (m).
            mass: Body mass (kg).
            length: Length of the segment (m) instead of that of the table.
            upwards: Whether the segment extends upwards from its origin instead of downwards.

        Returns:
            The body.
        """
        size = self.length * height if length is None else length
        own = self.mass * mass
        com = self.com * size if upwards else -self.com * size
        return Body(name, own, (0.0, 0.0, com), [own * (r * size) ** 2 for r in self.gyration])

    def from_distal_end(self) -> SegmentParameters:
        """The same segment, with distances measured from its other end point."""
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
        Length as a fraction of stature, mass as a fraction of body mass, center of mass and radii
        of gyration as fractions of the segment's length.

    Raises:
        ModelError: The table has no such segment, sex or end points.
    """
    table = table_rows("de_leva_1996")
    for what, value, column in (("sex", sex, "sex"), ("segment", segment, "segment")):
        known = dict.fromkeys(row[column] for row in table)
        if value not in known:
            raise ModelError(f"de Leva 1996 has {unknown_name(what, value, known)}")
    rows = [row for row in table if row["sex"] == sex and row["segment"] == segment]
    matching = [row for row in rows if endpoints in ("", row["endpoints"])]
    if not matching:
        known = dict.fromkeys(row["endpoints"] for row in rows)
        raise ModelError(
            f"de Leva 1996: {segment} has {unknown_name('end points', endpoints, known)}"
        )
    row = matching[0]
    gyration = [float(row[axis]) for axis in ("sagittal", "transverse", "longitudinal")]
    return SegmentParameters(
        segment,
        row["endpoints"],
        float(row["length"]) / MEAN_STATURE_M[sex],
        float(row["mass"]),
        float(row["com"]),
        (gyration[0], gyration[1], gyration[2]),
    )
