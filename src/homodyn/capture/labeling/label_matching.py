"""Matching of the labels of a recording to the markers of a model, by map, name or landmark."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path

from homodyn.capture.labeling.landmarks import landmark, normalize_label, strip_subject
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError, FormatError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.files import write_text
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model import Model


@record
class LabelMatching(Record):
    """Labels of a trial matched one to one to the markers of a model."""

    trial: Trial
    """The trial with matched markers named as in the model."""
    matched: Mapping[str, str]
    """By marker of the model, the label of the trial."""
    reasons: Mapping[str, str]
    """By marker, the reason: ``map``, ``name``, ``spelling``, ``synonym`` or ``geometry``."""
    unmatched: tuple[str, ...] = ()
    """Labels of the trial without a marker of the model."""
    absent: tuple[str, ...] = ()
    """Markers of the model without a label of the trial."""
    suggestions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By absent marker, unmatched labels that are similar."""
    confidence: Mapping[str, float] = field(default_factory=dict)
    """For matches by geometry, from 0 (as good as the next candidate) to 1."""

    def headline(self) -> str:
        """Number of matched markers and the reasons."""
        counts = Counter(self.reasons.values())
        by = ", ".join(f"{count} by {reason}" for reason, count in counts.items())
        total = count_of(len(self.matched) + len(self.absent), "marker")
        text = f"{len(self.matched)} of {total} of the model matched"
        return f"{text} ({by})" if by else text

    def __str__(self) -> str:
        text = self.headline()
        if self.absent:
            text += f"; absent: {', '.join(self.absent)}"
        if self.unmatched:
            text += f"; unmatched labels: {', '.join(self.unmatched)}"
        return text


MATCHING_LEVELS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("name", lambda label: label),
    ("name", strip_subject),
    ("spelling", normalize_label),
    ("synonym", landmark),
)
"""From strict to loose: the reason of a match, and the key that two names must share."""


def match_labels(
    model: Model, trial: Trial, *, names: Mapping[str, str] | str | os.PathLike[str] | None = None
) -> LabelMatching:
    """Match the labels of a trial to the markers of a model.

    In this order, each step for the markers that are left: ``names``; equal names, with or without
    a subject prefix before a colon; equal spelling except for case, separators and the position of
    the side (``R.ASIS``, ``ASIS_R``, ``RightASIS``); the same landmark in the common marker sets
    (``RASI``, ``R.ASIS``, ``RFWT``). See `match_geometry` for points without labels.

    Args:
        model: The model.
        trial: The recording.
        names: Labels of the trial by marker of the model, or a TOML file with a table
            ``[markers]``.

    Returns:
        The matching; its ``trial`` uses the marker names of the model.

    Raises:
        CaptureError: Two labels match the same marker equally well, or ``names`` contains an
            unknown name.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model)
    markers = tuple(marker.name for marker in model.markers)
    matched = _labels_from_map(names, trial, markers)
    reasons = dict.fromkeys(matched, "map")
    for reason, key in MATCHING_LEVELS:
        for marker, label in _match_by_key(trial, markers, matched, key).items():
            matched[marker], reasons[marker] = label, reason
    return label_matching(trial, markers, matched, reasons)


def label_matching(
    trial: Trial,
    markers: tuple[str, ...],
    matched: Mapping[str, str],
    reasons: Mapping[str, str],
    confidence: Mapping[str, float] | None = None,
) -> LabelMatching:
    """The record of a matching, with the renamed trial and what is not matched.

    Args:
        trial: The recording.
        markers: Names of the markers of the model.
        matched: Labels by marker.
        reasons: Reasons by marker.
        confidence: Confidence by marker, for matches by geometry.
    """
    order = [marker for marker in markers if marker in matched]
    used = set(matched.values())
    unmatched = tuple(label for label in trial.markers if label not in used)
    absent = tuple(marker for marker in markers if marker not in matched)
    new_names = {matched[marker]: marker for marker in order}
    # An unmatched label must not be mistaken for the marker of the same name.
    new_names |= {label: f"{label} (unmatched)" for label in unmatched if label in matched}
    return LabelMatching(
        trial.rename_markers(new_names),
        {marker: matched[marker] for marker in order},
        {marker: reasons[marker] for marker in order},
        unmatched,
        absent,
        {marker: close for marker in absent if (close := _similar_labels(marker, unmatched))},
        dict(confidence or {}),
    )


def write_label_map(
    path: str | os.PathLike[str], model: Model, trial: Trial, *, overwrite: bool = False
) -> None:
    """Write a TOML file with the matches and the markers without a match, for editing.

    Args:
        path: The file.
        model: The model.
        trial: The recording.
        overwrite: Replace an existing file.

    Raises:
        FormatError: The file exists already.
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise FormatError("the file exists already; overwrite=True replaces it", str(target))
    found = match_labels(model, trial)
    lines = [
        f"# Markers of {model.name} and their labels in {trial.name}.",
        "# Left: the model. Right: the recording. Lines that begin with # are ignored.",
        "[markers]",
    ]
    for marker in model.markers:
        if marker.name in found.matched:
            line = f"{_quote(marker.name)} = {_quote(found.matched[marker.name])}"
            lines.append(f"{line}  # {found.reasons[marker.name]}")
        else:
            close = found.suggestions.get(marker.name, ())
            hint = f"  # perhaps {', '.join(close)}" if close else "  # no similar label"
            lines.append(f'# {_quote(marker.name)} = ""{hint}')
    if found.unmatched:
        lines += ["", "# Labels of the recording that are not used:"]
        lines += [f"#   {label}" for label in found.unmatched]
    write_text(target, "\n".join(lines) + "\n")


@guarded_reader("label map")
def read_label_map(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the table ``[markers]`` of a TOML file.

    Args:
        path: The file.

    Returns:
        Labels of the recording by marker of the model.

    Raises:
        FormatError: The file cannot be read, or is not such a table.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"it is not valid TOML: {error}", str(path)) from error
    table = content.get("markers")
    if not isinstance(table, dict):
        raise FormatError('it has no table [markers] with lines such as RASI = "R.ASIS"', str(path))
    for marker, label in table.items():
        if not isinstance(label, str):
            raise FormatError(
                f"label of {marker!r} is {label!r}, a text in quotes is expected (names with dots "
                "must be quoted)",
                str(path),
                "[markers]",
            )
    return dict(table)


def _labels_from_map(
    names: Mapping[str, str] | str | os.PathLike[str] | None,
    trial: Trial,
    markers: tuple[str, ...],
) -> dict[str, str]:
    """The labels that the user gives, checked."""
    if names is None:
        return {}
    table = dict(names) if isinstance(names, Mapping) else read_label_map(names)
    where = "" if isinstance(names, Mapping) else f"{os.fspath(names)}: "
    used: dict[str, str] = {}
    for marker, label in table.items():
        if marker not in markers:
            raise CaptureError(where + unknown_name("marker of the model", marker, markers))
        if label not in trial.markers:
            raise CaptureError(where + unknown_name("label of the trial", label, trial.markers))
        if label in used:
            raise CaptureError(
                f"{where}label {label!r} is given to two markers, {used[label]!r} and "
                f"{marker!r}; each label belongs to one"
            )
        used[label] = marker
    return table


def _match_by_key(
    trial: Trial,
    names: tuple[str, ...],
    matched: Mapping[str, str],
    key: Callable[[str], object],
) -> dict[str, str]:
    """Unmatched markers and labels that share a key."""
    used = set(matched.values())
    labels: dict[object, list[str]] = {}
    for label in trial.markers:
        if label not in used:
            labels.setdefault(key(label), []).append(label)
    markers: dict[object, list[str]] = {}
    for marker in names:
        if marker not in matched:
            markers.setdefault(key(marker), []).append(marker)
    found = {}
    for shared, members in markers.items():
        candidates = labels.get(shared, [])
        # With two markers of the model at one landmark, a label is ambiguous.
        if len(members) > 1 or not candidates:
            continue
        if len(candidates) > 1:
            raise CaptureError(
                f"labels {' and '.join(map(repr, candidates))} of trial {trial.name!r} both match "
                f"marker {members[0]!r}; choose one with "
                f"names={{{members[0]!r}: {candidates[0]!r}}} or a map"
            )
        found[members[0]] = candidates[0]
    return found


def _similar_labels(marker: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels that are spelled similarly, or mean the same landmark."""
    by_spelling: dict[str, str] = {}
    for label in labels:
        by_spelling.setdefault(normalize_label(label), label)
    near = get_close_matches(normalize_label(marker), by_spelling, n=3, cutoff=0.65)
    same = [label for label in labels if landmark(label) == landmark(marker)]
    return tuple(dict.fromkeys([*same, *(by_spelling[word] for word in near)]))[:3]


def _quote(text: str) -> str:
    """A name in quotes, for keys and values of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
