"""Check a model for probable mistakes in ranges, masses, inertias and attachments.

There are two levels. An invalid model is refused when it is built: `ModelError` lists every reason.
A valid model may still contain mistakes: `check` returns a `Finding` for each, a warning for a
probable mistake and information for what is worth knowing. `homodyn.analysis.check_model` adds
checks that need mechanics or anthropometric tables.
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
"""Distance (m) of a marker or contact from the joint of its body above which check warns."""
MAX_COM_OUTSIDE_SHARE = 0.5
"""Share of a segment's diagonal by which its center of mass may lie outside the segment."""
MAX_GYRATION_RATIO = 1.2
"""Radius of gyration, relative to the size of the segment, above which check warns."""
MIN_SEGMENT_SIZE_M = 1e-3
"""Size (m) of a segment below which its extent is not compared."""


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
    """Points of a body: its joints, markers, contacts, capsules and muscle points.

    Args:
        model: The model.
        name: Name of the body.

    Returns:
        (points, 3), m, in the body frame.
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
            reach = np.maximum(contact.radius, contact.half_size)
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
            sentence = f"{coordinate.name!r} cannot move: its range is {coordinate.lower:g} alone"
            yield _info("range", sentence) if coordinate.locked else _warning("range", sentence)
    locked = [coordinate.name for coordinate in model.coordinates if coordinate.locked]
    if locked:
        yield _info("range", f"locked at the default value: {enumerate_names(locked)}")
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
                    f"{record.body!r}; millimeters?",
                )
    for contact in model.contacts:
        if contact.kind in ("sphere", "capsule") and contact.radius == 0:
            yield _warning(
                "contact", f"contact {contact.name!r} is a {contact.kind} of radius zero"
            )
    massless = {body.name for body in model.bodies if body.mass == 0}
    unloaded = [marker.name for marker in model.markers if marker.body in massless]
    if unloaded:
        yield _info("marker", f"on bodies without mass: {enumerate_names(unloaded)}")


def _inertias(model: Model) -> Iterator[Finding]:
    """Placeholder inertias: the same power of ten about every axis."""
    names_by_moment: dict[float, list[str]] = {}
    for body in model.bodies:
        moment = body.inertia[0, 0]
        if moment > 0 and np.array_equal(body.inertia, moment * np.eye(3)):
            digits = np.log10(moment)
            if abs(digits - round(digits)) < 1e-9:
                names_by_moment.setdefault(float(moment), []).append(body.name)
    for moment, names in names_by_moment.items():
        yield _warning(
            "inertia",
            f"{moment:g} kg m2 about every axis looks like a placeholder: {enumerate_names(names)}",
        )


def _extents(model: Model) -> Iterator[Finding]:
    """Centers of mass outside their segments, and inertias too large for the segment."""
    too_large: dict[str, tuple[float, float]] = {}
    for body in model.bodies:
        if body.mass == 0:
            continue
        points = body_extent(model, body.name)
        low, high = points.min(axis=0), points.max(axis=0)
        diagonal = float(np.linalg.norm(high - low))
        distance = float(np.linalg.norm(np.maximum(0, np.maximum(low - body.com, body.com - high))))
        if diagonal > MIN_SEGMENT_SIZE_M and distance > MAX_COM_OUTSIDE_SHARE * diagonal:
            yield _warning(
                "center of mass",
                f"that of {body.name!r} is {distance:.3g} m outside of the segment, which spans "
                f"{diagonal:.3g} m between its joints, markers, contacts and muscles",
            )
        reach = max(diagonal, float(np.linalg.norm(points - body.com, axis=1).max()))
        gyration = float(np.sqrt(np.linalg.eigvalsh(body.inertia).max() / body.mass))
        if reach > MIN_SEGMENT_SIZE_M and gyration > MAX_GYRATION_RATIO * reach:
            too_large[body.name] = gyration, reach
    if too_large:
        worst = max(too_large, key=lambda name: too_large[name][0] / too_large[name][1])
        gyration, reach = too_large[worst]
        yield _warning(
            "inertia",
            f"too large for mass and size of {enumerate_names(list(too_large))}; the radius of "
            f"gyration of {worst!r} is {gyration:.3g} m, the segment spans {reach:.3g} m",
        )
