"""Marker sets in common use, known by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from homodyn.capture.labeling.landmarks import normalize_label
from homodyn.foundation.record import Record, record

MIN_SET_SHARE = 0.7
"""Share of the labels of a set that a recording must have."""


def _both_sides(words: str, form: str = "{side}{word}", sides: str = "LR") -> tuple[str, ...]:
    """Labels of both sides, from their names without a side."""
    return tuple(form.format(side=side, word=word) for word in words.split() for side in sides)


_PLUG_IN_GAIT_LEGS = _both_sides("ASI PSI THI KNE TIB ANK HEE TOE")
_PLUG_IN_GAIT_TRUNK = ("C7", "T10", "CLAV", "STRN", "RBAK")
_PLUG_IN_GAIT_ARMS = _both_sides("FHD BHD SHO ELB WRA WRB FIN")
MARKER_SETS: Mapping[str, tuple[str, ...]] = {
    "Plug-in Gait": (*_PLUG_IN_GAIT_LEGS, *_PLUG_IN_GAIT_TRUNK, *_PLUG_IN_GAIT_ARMS),
    "Plug-in Gait legs (CGM 1)": _PLUG_IN_GAIT_LEGS,
    "CGM 2": (
        *_PLUG_IN_GAIT_LEGS,
        *_both_sides("THAP THAD TIAP TIAD KNM MED SMH FMH VMH"),
    ),
    "Helen Hayes": (
        "V.Sacral",
        *_both_sides("ASIS Thigh Knee Shank Ankle Heel Toe", "{side}.{word}"),
    ),
    "IOR": _both_sides("ASIS PSIS GT LE ME HF TT LM MM CA FM SM VM"),
    "Rajagopal": _both_sides(
        "Shoulder Clavicle Elbow Wrist ASIS PSIS TH1 TH2 TH3 Knee SH1 SH2 SH3 Ankle Heel MT5 Toe",
        "{side}.{word}",
    ),
    "CAST clusters": _both_sides("TH1 TH2 TH3 TH4 SK1 SK2 SK3 SK4"),
    "CMU": (
        *_both_sides("FHD BHD SHO UPA ELB WRA WRB FIN FWT BWT THI KNE SHN ANK HEE MT5 TOE"),
        *("C7", "T10", "CLAV", "STRN"),
    ),
    "OpenCap keypoints": (
        *("Neck", "midHip"),
        *_both_sides("Shoulder Elbow Wrist Hip Knee Ankle BigToe SmallToe Heel"),
    ),
    "OpenCap anatomical": (
        "C7_study",
        *_both_sides("ASIS PSIS", "{side}.{word}_study", "rL"),
        *_both_sides(
            "shoulder knee mknee ankle mankle toe calc 5meta", "{side}_{word}_study", "rL"
        ),
    ),
}
"""Labels of each set, in the spelling of those who defined it. Clusters of more markers, wands and
further markers do not change the name of a set."""


@record
class MarkerSetMatch(Record):
    """A marker set that the labels of a recording contain."""

    name: str
    """A key of `MARKER_SETS`."""
    found: tuple[str, ...]
    """Labels of the set that the recording has."""
    missing: tuple[str, ...]
    """Labels of the set that it lacks."""

    @property
    def share(self) -> float:
        """Share of the labels of the set that the recording has."""
        return len(self.found) / (len(self.found) + len(self.missing))

    def headline(self) -> str:
        """Name, and what is missing."""
        lacking = f", without {', '.join(self.missing)}" if self.missing else ""
        return f"{self.name}: {len(self.found)} labels{lacking}"


def identify_marker_set(labels: Iterable[str]) -> MarkerSetMatch | None:
    """The marker set in common use that labels belong to.

    Labels are compared in their spelling: case, separators, subject prefix and the position of the
    side do not matter, as in `match_labels`.

    Args:
        labels: Labels of a recording.

    Returns:
        Of the sets of which the labels have `MIN_SET_SHARE` or more, the one with most labels of
        the recording; None if there is none.
    """
    spellings = {normalize_label(label) for label in labels}
    matches = [_match(name, names, spellings) for name, names in MARKER_SETS.items()]
    possible = [match for match in matches if match.share >= MIN_SET_SHARE]
    return max(possible, key=lambda match: (len(match.found), match.share), default=None)


def _match(name: str, names: Sequence[str], spellings: set[str]) -> MarkerSetMatch:
    found = tuple(label for label in names if normalize_label(label) in spellings)
    return MarkerSetMatch(name, found, tuple(label for label in names if label not in found))
