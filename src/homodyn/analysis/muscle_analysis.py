"""Muscles of a recorded movement: activations, joint reactions, and how EMG agrees with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.emg_agreement import (
    EmgAgreement,
    assign_sides,
    emg_agreements,
    envelope_at,
)
from homodyn.analysis.emg_muscles import recorded_muscles
from homodyn.analysis.muscle_curves import known_activations, known_by_side
from homodyn.analysis.muscle_settings import MuscleSettings
from homodyn.capture import Signals
from homodyn.errors import CaptureError
from homodyn.foundation import Record, enumerate_names, record
from homodyn.model.side import Side, side_of
from homodyn.motion import Event, Loads, Motion
from homodyn.muscle import (
    ActivationStatus,
    EmgTargets,
    FiberRange,
    JointReactions,
    MuscleActivations,
    fiber_ranges,
    joint_reactions,
    static_optimization,
)

MIN_EMG_FACTOR = 1e-3
"""Factor below which an envelope has no amplitude to aim at."""


@dataclass(frozen=True)
class ContactRange:
    """Published range of the peak force in a joint during level walking."""

    joint: str
    words: tuple[str, ...]
    """Parts of names of the joint in models."""
    low: float
    """Body weights."""
    high: float
    """Body weights."""
    source: str


CONTACT_RANGES = (
    ContactRange("Hip", ("hip",), 2.5, 4.5, "Bergmann et al. 2001; Modenese and Phillips 2012"),
    ContactRange("Knee", ("knee",), 2.0, 3.5, "Kutzner et al. 2010; Fregly et al. 2012"),
    ContactRange("Ankle", ("ankle",), 3.0, 5.5, "Stauffer et al. 1977; Procter and Paul 1982"),
)
"""Peak joint contact forces of level walking, from instrumented implants and models."""


@record(eq=True)
class ContactPeak(Record):
    """The largest force in a joint over the frames with known loads."""

    joint: str
    """``"Hip"``, ``"Knee"`` or ``"Ankle"``."""
    side: str
    name: str
    """Name of the joint in the model."""
    peak: float
    """Body weights."""
    time: float
    """s."""
    low: float
    """Lower end of the published range, body weights."""
    high: float
    """Upper end of the published range, body weights."""

    @property
    def within(self) -> bool:
        """Whether the peak is in the published range of walking."""
        return self.low <= self.peak <= self.high


@record
class MuscleAnalysis(Record):
    """What muscles do in a recorded movement, and what joints carry."""

    activations: MuscleActivations
    reactions: JointReactions
    known: Mapping[str, np.ndarray]
    """(frames,) for ``"right"``, ``"left"`` and ``"middle"``: where the torques of that leg, or of
    all joints, are known."""
    agreements: tuple[EmgAgreement, ...] = ()
    """One per recorded muscle."""
    notes: tuple[str, ...] = ()

    def headline(self) -> str:
        """Frames by status."""
        return f"MuscleAnalysis: {self.activations.sentence}"

    @property
    def fibers(self) -> tuple[FiberRange, ...]:
        """Ranges of the fibers over the movement."""
        return fiber_ranges(self.activations) if self.activations.fiber_lengths.size else ()

    @property
    def unsolved(self) -> np.ndarray:
        """(frames,): True in frames with known loads that are not solved by muscles alone."""
        good = (ActivationStatus.SOLVED, ActivationStatus.LOADS_UNKNOWN)
        return np.array([one not in good for one in self.activations.status])

    def with_activations(self, motion: Motion) -> Motion:
        """A motion with the activations.

        Args:
            motion: The motion of these muscles.

        Returns:
            The motion; activations of muscles without a result, and where the torques of a leg are
            not known, are NaN.
        """
        result = self.activations
        names = [muscle.name for muscle in motion.model.muscles]
        values = np.full((motion.frames, len(names)), np.nan)
        known = known_activations(result, self.known)
        columns = [names.index(name) for name in result.muscles]
        values[:, columns] = np.where(known, result.activations, np.nan)
        return replace(motion, activations=values)

    def contact_peaks(self) -> tuple[ContactPeak, ...]:
        """Largest forces in hip, knee and ankle of both sides.

        Returns:
            One peak per joint and side of the model.
        """
        found = []
        for one in CONTACT_RANGES:
            for side in Side:
                name = contact_joint(self.reactions.joints, one, side)
                if name is None or not self.known[side].any():
                    continue
                size = self.reactions.per_weight[:, self.reactions.joint(name)]
                frame = int(np.argmax(np.where(self.known[side], size, -1.0)))
                peak, time = float(size[frame]), float(self.reactions.time[frame])
                found.append(ContactPeak(one.joint, str(side), name, peak, time, one.low, one.high))
        return tuple(found)


def contact_joint(joints: Sequence[str], wanted: ContactRange, side: Side) -> str | None:
    """The joint of a model on a side.

    Args:
        joints: Names of joints.
        wanted: The joint with its words.
        side: The side.

    Returns:
        The first whose name has one of the words and the side; None without one. Joints of the
        patella do not count.
    """
    for name in joints:
        plain = name.lower()
        named = any(word in plain for word in wanted.words)
        if named and "patell" not in plain and side_of(name) == side:
            return name
    return None


def analyze_muscles(
    loads: Loads,
    settings: MuscleSettings,
    emg: Signals | None = None,
    sides: Sequence[str | None] = (),
    *,
    events: Sequence[Event] = (),
) -> MuscleAnalysis:
    """Share the torques of a movement among its muscles.

    Args:
        loads: Motion, torques and ground forces.
        settings: Effort, tendons, reserves and the use of EMG.
        emg: Envelopes.
        sides: The side of each channel.
        events: Foot strikes and foot offs, which say where the loads of each leg are known.

    Returns:
        Activations, joint reactions with all muscles, and agreements with EMG.

    Raises:
        ModelError: The model has no muscles, or has muscles without a model.
        CaptureError: EMG is to be used, and there is none of a muscle of the model.
    """
    motion, options = loads.motion, settings.options()
    result = static_optimization(motion, loads, options)
    known = known_by_side(loads, CycleSegmentation(motion.time, tuple(events)))
    visible = known_activations(result, known)
    notes: tuple[str, ...] = ()
    if emg is not None:
        sides, note = assign_sides(result, visible, emg, sides, settings.emg_side)
        notes = (note,) if note else ()
    if settings.emg != "compare":
        targets, note = _targets(result, visible, settings, emg, sides)
        notes = (*notes, note)
        result = static_optimization(motion, loads, options, emg=targets)
    agreements = () if emg is None else emg_agreements(result, visible, emg, sides)
    return MuscleAnalysis(
        activations=result,
        reactions=joint_reactions(result),
        known=known,
        agreements=agreements,
        notes=(*result.notes, *notes, *_channels_without_muscle(result, emg, sides)),
    )


def _channels_without_muscle(
    result: MuscleActivations, emg: Signals | None, sides: Sequence[str | None]
) -> tuple[str, ...]:
    if emg is None:
        return ()
    alone = [
        name
        for name, side in zip(emg.names, sides, strict=True)
        if not recorded_muscles(name, side, result.muscles)
    ]
    if not alone:
        return ()
    return (f"EMG channels without a muscle of the model: {enumerate_names(alone)}",)


def _targets(
    free: MuscleActivations,
    known: np.ndarray,
    settings: MuscleSettings,
    emg: Signals | None,
    sides: Sequence[str | None],
) -> tuple[EmgTargets, str]:
    """Envelopes as activations to aim at, with their amplitude fitted to those without EMG.

    The amplitude of an envelope depends on electrodes and skin. Unless both programs share it, one
    factor per channel fits the envelope to the mean of the activations found without EMG.
    """
    assert settings.emg != "compare"
    if emg is None:
        raise CaptureError(
            f"--muscle-emg {settings.emg} needs EMG; pass a file with --emg or name channels of "
            "the recording with --emg-channels"
        )
    delayed = free.time - settings.emg_delay
    names: list[str] = []
    columns: list[np.ndarray] = []
    used: list[str] = []
    for agreement in emg_agreements(free, known, emg, sides):
        column = emg.names.index(agreement.channel)
        envelope = envelope_at(emg, column, delayed)
        if agreement.emg_factor < MIN_EMG_FACTOR:
            continue
        used.append(f"{agreement.channel} ({agreement.side}) {agreement.emg_factor:.2g}")
        for name in agreement.muscles:
            if name not in names:
                names.append(name)
                columns.append(np.clip(agreement.emg_factor * envelope, 0.0, 1.0))
    if not names:
        raise CaptureError(
            f"--muscle-emg {settings.emg}: no EMG channel ({enumerate_names(emg.names, 12)}) "
            "records a muscle that the movement uses"
        )
    targets = EmgTargets(tuple(names), np.column_stack(columns), settings.emg_weight, settings.emg)
    note = (
        f"EMG with a delay of {1e3 * settings.emg_delay:.0f} ms and a weight of "
        f"{settings.emg_weight:g} acts on {len(names)} muscles; factors of the envelopes, fitted "
        f"to the activations without EMG: {enumerate_names(used, 12)}"
    )
    return targets, note
