"""Check a model by what it says about itself: ranges, masses, inertias and attachments.

There are two levels. A model that cannot be computed with is refused when it is built: `ModelError`
lists every reason. A model that can be computed with may still hold mistakes: `check` returns a
`Finding` for each, a warning for a probable mistake and information for what is worth knowing.
`homodyn.analysis.check_model` adds what takes mechanics or tables of people to judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from homodyn.foundation import Finding, Severity, enumerate_names
from homodyn.model.joint import WORLD
from homodyn.model.model import Model
from homodyn.model.plausibility import implausibilities

MAX_ATTACHMENT_DISTANCE_M = 1.5
"""Distance (m) from the joint of its body beyond which a marker or contact is doubted."""
MAX_COM_OUTSIDE_SHARE = 0.5
"""Part of a segment's diagonal by which its centre of mass may lie outside of the segment."""
MAX_GYRATION_RATIO = 1.2
"""Radius of gyration, in spans of the segment, from which on an inertia is doubted."""
MIN_SEGMENT_SIZE_M = 1e-3
"""Size (m) of a segment below which its extent says nothing."""


def _warning(subject: str, sentence: str) -> Finding:
    return Finding(Severity.WARNING, subject, sentence)


def _info(subject: str, sentence: str) -> Finding:
    return Finding(Severity.INFO, subject, sentence)


def check(model: Model) -> list[Finding]:
    """Check a model for probable mistakes, without computing any mechanics.

    Args:
        model: A model without parameters.

    Returns:
        Warnings and information, in the order: plausibility of masses and inertias, ranges,
        attachments, placeholder inertias, centers of mass outside their segments.
    """
    return [
        *(_warning("plausibility", sentence) for sentence in implausibilities(model)),
        *_ranges(model),
        *_attachments(model),
        *_inertias(model),
        *_extents(model),
    ]


def body_extent(model: Model, name: str) -> np.ndarray:
    """Points (m, rows, in its frame) that a body is known to reach to.

    Its joints, and what markers, contacts, capsules and muscles are attached to it.
    """
    points: list[Any] = []
    for joint in model.joints:
        if joint.child == name:
            points.append(joint.child_placement.r)
        if joint.parent == name:
            points.append(joint.placement.r)
    points += [marker.position for marker in model.markers if marker.body == name]
    for contact in model.contacts:
        if contact.body == name:
            reach = np.maximum(contact.radius, np.abs(contact.size))
            corners = np.array(list(product((-1.0, 1.0), repeat=3))) * reach
            points += list(contact.position + corners @ contact.rotation)
    for capsule in model.capsules:
        if capsule.body == name:
            for end, sign in product((capsule.start, capsule.end), (-1.0, 1.0)):
                points.append(end + sign * capsule.radius)
    for muscle in model.muscles:
        points += [point.position for point in muscle.points if point.body == name]
    return np.array(points)


def _ranges(model: Model) -> Iterator[Finding]:
    for coordinate in model.coordinates:
        if coordinate.lower == coordinate.upper:
            told = f"{coordinate.name!r} cannot move: its range is {coordinate.lower:g} alone"
            yield _info("range", told) if coordinate.locked else _warning("range", told)
    locked = [coordinate.name for coordinate in model.coordinates if coordinate.locked]
    if locked:
        yield _info("range", f"locked in the file, free to move here: {enumerate_names(locked)}")
    joints = {c.name for joint in model.joints if joint.parent != WORLD for c in joint.coordinates}
    free = [
        c.name
        for c in model.coordinates
        if c.name in joints and not (np.isfinite(c.lower) and np.isfinite(c.upper))
    ]
    if free:
        yield _info("range", f"without a range: {enumerate_names(free)}")


def _attachments(model: Model) -> Iterator[Finding]:
    origin = {joint.child: joint.child_placement.r for joint in model.joints}
    for kind, records in (("marker", model.markers), ("contact", model.contacts)):
        for record in records:
            if record.body == WORLD:
                continue
            distance = float(np.linalg.norm(record.position - origin[record.body]))
            if distance > MAX_ATTACHMENT_DISTANCE_M:
                yield _warning(
                    kind,
                    f"{kind} {record.name!r} is {distance:.2f} m from the joint of its body "
                    f"{record.body!r}; millimetres?",
                )
    for contact in model.contacts:
        if contact.kind in ("sphere", "capsule") and contact.radius == 0:
            yield _warning(
                "contact", f"contact {contact.name!r} is a {contact.kind} of radius zero"
            )
    massless = {body.name for body in model.bodies if body.mass == 0}
    loose = [marker.name for marker in model.markers if marker.body in massless]
    if loose:
        yield _info("marker", f"on bodies without mass: {enumerate_names(loose)}")


def _inertias(model: Model) -> Iterator[Finding]:
    """Placeholders: one power of ten about every axis."""
    alike: dict[float, list[str]] = {}
    for body in model.bodies:
        moment = body.inertia[0, 0]
        if moment > 0 and np.array_equal(body.inertia, moment * np.eye(3)):
            digits = np.log10(moment)
            if abs(digits - round(digits)) < 1e-9:
                alike.setdefault(float(moment), []).append(body.name)
    for moment, names in alike.items():
        yield _warning(
            "inertia",
            f"{moment:g} kg m2 about every axis looks like a placeholder: {enumerate_names(names)}",
        )


def _extents(model: Model) -> Iterator[Finding]:
    """Centres of mass outside of their segments, and masses spread wider than these."""
    wide: dict[str, tuple[float, float]] = {}
    for body in model.bodies:
        if body.mass == 0:
            continue
        points = body_extent(model, body.name)
        low, high = points.min(axis=0), points.max(axis=0)
        diagonal = float(np.linalg.norm(high - low))
        away = float(np.linalg.norm(np.maximum(0, np.maximum(low - body.com, body.com - high))))
        if diagonal > MIN_SEGMENT_SIZE_M and away > MAX_COM_OUTSIDE_SHARE * diagonal:
            yield _warning(
                "centre of mass",
                f"that of {body.name!r} is {away:.3g} m outside of the segment, which spans "
                f"{diagonal:.3g} m between its joints, markers, contacts and muscles",
            )
        reach = max(diagonal, float(np.linalg.norm(points - body.com, axis=1).max()))
        gyration = float(np.sqrt(np.linalg.eigvalsh(body.inertia).max() / body.mass))
        if reach > MIN_SEGMENT_SIZE_M and gyration > MAX_GYRATION_RATIO * reach:
            wide[body.name] = gyration, reach
    if wide:
        worst = max(wide, key=lambda name: wide[name][0] / wide[name][1])
        gyration, reach = wide[worst]
        yield _warning(
            "inertia",
            f"too large for mass and size of {enumerate_names(list(wide))}; the radius of gyration "
            f"of {worst!r} is {gyration:.3g} m, the segment spans {reach:.3g} m",
        )
