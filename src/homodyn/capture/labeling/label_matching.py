"""Which label of a recording is which marker of a model: by name, by a map, or by geometry."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path

from homodyn.capture.labeling.landmarks import landmark, normalize_label, strip_subject
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError, FormatError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model


@record
class LabelMatching(Record):
    """Labels of a trial matched one to one to the markers of a model."""

    trial: Trial
    """The trial with matched markers called as in the model."""
    matched: Mapping[str, str]
    """The label of the trial for each marker of the model that has one."""
    reasons: Mapping[str, str]
    """Why, for each of them: ``map``, ``name``, ``spelling``, ``synonym`` or ``geometry``."""
    unmatched: tuple[str, ...] = ()
    """Labels of the trial that no marker of the model answers to."""
    absent: tuple[str, ...] = ()
    """Markers of the model that the trial does not have."""
    suggestions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Unmatched labels that come close, for absent markers."""
    confidence: Mapping[str, float] = field(default_factory=dict)
    """From 0 to 1, for matches by geometry: how much better than the next candidate."""

    def __str__(self) -> str:
        counts: dict[str, int] = {}
        for reason in self.reasons.values():
            counts[reason] = counts.get(reason, 0) + 1
        by = ", ".join(f"{count} by {reason}" for reason, count in counts.items())
        total = len(self.matched) + len(self.absent)
        text = f"{len(self.matched)} of {total} markers of the model matched"
        text += f" ({by})" if by else ""
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
"""From strict to loose: what two names must have in common to mean one marker."""


def match_labels(
    trial: Trial, model: Model, *, names: Mapping[str, str] | str | os.PathLike[str] | None = None
) -> LabelMatching:
    """Match the labels of a trial to the markers of a model.

    In this order, each step for what is left: ``names``; equal names, with or without a subject
    prefix before a colon; equal spelling except for case, separators and the position of the side
    (``R.ASIS``, ``ASIS_R``, ``RightASIS``); the same landmark in the common marker sets (``RASI``,
    ``R.ASIS``, ``RFWT``). See `match_geometry` for points without labels.

    Args:
        trial: The recording.
        model: The model.
        names: Labels of the trial by marker of the model, or a TOML file with a table
            ``[markers]``.

    Returns:
        The matching; its ``trial`` uses the marker names of the model.

    Raises:
        CaptureError: Two labels match the same marker equally well, or ``names`` contains an
            unknown name.
    """
    wanted = tuple(marker.name for marker in model.markers)
    matched = _labels_from_map(names, trial, wanted)
    how = dict.fromkeys(matched, "map")
    for reason, key in MATCHING_LEVELS:
        for marker, label in _match_by_key(trial, wanted, matched, key).items():
            matched[marker], how[marker] = label, reason
    return label_matching(trial, wanted, matched, how)


def label_matching(
    trial: Trial,
    wanted: tuple[str, ...],
    matched: Mapping[str, str],
    how: Mapping[str, str],
    confidence: Mapping[str, float] | None = None,
) -> LabelMatching:
    """The record of a matching, its trial renamed and what is left over listed."""
    order = [marker for marker in wanted if marker in matched]
    used = set(matched.values())
    unmatched = tuple(label for label in trial.markers if label not in used)
    absent = tuple(marker for marker in wanted if marker not in matched)
    new = {matched[marker]: marker for marker in order}
    # A label nobody claimed must not pass for the marker of the model that is called so.
    new |= {label: f"{label} (unmatched)" for label in unmatched if label in matched}
    return LabelMatching(
        trial.rename_markers(new),
        {marker: matched[marker] for marker in order},
        {marker: how[marker] for marker in order},
        unmatched,
        absent,
        {marker: close for marker in absent if (close := _similar_labels(marker, unmatched))},
        dict(confidence or {}),
    )


def write_label_map(
    path: str | os.PathLike[str], trial: Trial, model: Model, *, overwrite: bool = False
) -> None:
    """Write a TOML file with the matches that were found and those that are missing, for editing.

    Args:
        path: The file.
        trial: The recording.
        model: The model.
        overwrite: Replace an existing file.

    Raises:
        FormatError: The file exists already.
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise FormatError("the file is there already; force=True replaces it", str(target))
    found = match_labels(trial, model)
    lines = [
        f"# Markers of {model.name} and their labels in {trial.name}.",
        "# Left: the model. Right: the recording. Lines that begin with # do not count.",
        "[markers]",
    ]
    for marker in model.markers:
        if marker.name in found.matched:
            line = f"{_quote(marker.name)} = {_quote(found.matched[marker.name])}"
            lines.append(f"{line}  # {found.reasons[marker.name]}")
        else:
            close = found.suggestions.get(marker.name, ())
            hint = f"  # perhaps {', '.join(close)}" if close else "  # nothing like it was found"
            lines.append(f'# {_quote(marker.name)} = ""{hint}')
    if found.unmatched:
        lines += ["", "# Labels of the recording that are not used:"]
        lines += [f"#   {label}" for label in found.unmatched]
    beside = target.with_name(target.name + ".part")
    beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside.replace(target)


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
        raise FormatError(f"cannot be read: {error.strerror}", str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"is no TOML: {error}", str(path)) from error
    table = content.get("markers")
    if not isinstance(table, dict):
        raise FormatError('has no table [markers] with lines such as RASI = "R.ASIS"', str(path))
    for marker, label in table.items():
        if not isinstance(label, str):
            raise FormatError(
                f"label of {marker!r} is {label!r}, a text in quotes is expected "
                "(quote names that have dots in them)",
                str(path),
                "[markers]",
            )
    return dict(table)


def _labels_from_map(
    names: Mapping[str, str] | str | os.PathLike[str] | None, trial: Trial, wanted: tuple[str, ...]
) -> dict[str, str]:
    if names is None:
        return {}
    table = dict(names) if isinstance(names, Mapping) else read_label_map(names)
    where = "" if isinstance(names, Mapping) else f"{os.fspath(names)}: "
    claimed: dict[str, str] = {}
    for marker, label in table.items():
        if marker not in wanted:
            raise CaptureError(where + unknown_name("marker of the model", marker, wanted))
        if label not in trial.markers:
            raise CaptureError(where + unknown_name("label of the trial", label, trial.markers))
        if label in claimed:
            raise CaptureError(
                f"{where}label {label!r} is given to two markers, {claimed[label]!r} and "
                f"{marker!r}; each label belongs to one"
            )
        claimed[label] = marker
    return table


def _match_by_key(
    trial: Trial,
    wanted: tuple[str, ...],
    matched: Mapping[str, str],
    key: Callable[[str], object],
) -> dict[str, str]:
    """Markers and labels not yet matched that share a key."""
    used = set(matched.values())
    labels: dict[object, list[str]] = {}
    for label in trial.markers:
        if label not in used:
            labels.setdefault(key(label), []).append(label)
    markers: dict[object, list[str]] = {}
    for marker in wanted:
        if marker not in matched:
            markers.setdefault(key(marker), []).append(marker)
    found = {}
    for shared, claimed in markers.items():
        claims = labels.get(shared, [])
        # Two markers of the model at one landmark: no name tells which of them a label means.
        if len(claimed) > 1 or not claims:
            continue
        if len(claims) > 1:
            raise CaptureError(
                f"labels {' and '.join(map(repr, claims))} of trial {trial.name!r} both claim "
                f"marker {claimed[0]!r}; say which one it is with "
                f"names={{{claimed[0]!r}: {claims[0]!r}}} or a map"
            )
        found[claimed[0]] = claims[0]
    return found


def _similar_labels(marker: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels that look like a marker, or stand for the same place on either side."""
    by_spelling: dict[str, str] = {}
    for label in labels:
        by_spelling.setdefault(normalize_label(label), label)
    near = get_close_matches(normalize_label(marker), by_spelling, n=3, cutoff=0.65)
    same = [label for label in labels if landmark(label) == landmark(marker)]
    return tuple(dict.fromkeys([*same, *(by_spelling[word] for word in near)]))[:3]


def _quote(text: str) -> str:
    """A name in quotes, as TOML takes it on either side."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
