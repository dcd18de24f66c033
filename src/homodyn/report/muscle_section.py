"""The section of muscles on the page of an analysis."""

from __future__ import annotations

import numpy as np

from homodyn.analysis.muscle_analysis import MuscleAnalysis
from homodyn.analysis.muscle_sentences import (
    agreement_sentence,
    contact_sentence,
    status_sentence,
)
from homodyn.analysis.pipeline import Analysis
from homodyn.foundation import count_of
from homodyn.report import page_text
from homodyn.report.html import (
    Cell,
    bullet_list,
    details,
    figures_html,
    number,
    paragraph,
    table,
)
from homodyn.report.muscle_figures import (
    activations,
    emg_comparison,
    fiber_lengths,
    forces,
    joint_forces,
    torque_shares,
)


def muscle_section(analysis: Analysis) -> str:
    """Activations beside EMG, forces, fibers, shares of torques and joint forces.

    Args:
        analysis: The result of `homodyn.analysis.analyze`.

    Returns:
        The HTML of the section; the reason where there are no activations.
    """
    found = analysis.muscles
    if found is None:
        reason = analysis.missing.get("muscles") or page_text.MISSING["muscles"]
        return paragraph(_sentence(reason), "empty")
    segmentation = analysis.cycles
    peaks = contact_sentence(found.contact_peaks())
    agreement = agreement_sentence(found)
    return "".join(
        [
            paragraph(_sentence(found.activations.method)),
            paragraph(_sentence(status_sentence(found))),
            "<h3>Activations and EMG</h3>",
            paragraph(_sentence(agreement) if agreement else page_text.NO_MUSCLE_EMG),
            figures_html(emg_comparison(found, analysis.emg, segmentation)),
            _agreement_table(found),
            details("Activations of all muscles", figures_html(activations(found, segmentation))),
            "<h3>Forces in joints</h3>",
            paragraph(_sentence(peaks)) if peaks else "",
            figures_html(joint_forces(found, segmentation)),
            _peak_table(found),
            "<h3>Torques by muscle</h3>",
            figures_html(torque_shares(found, segmentation)),
            "<h3>Muscle forces and fibers</h3>",
            details("Forces of all muscles", figures_html(forces(found, segmentation))),
            details("Fiber lengths", figures_html(fiber_lengths(found, segmentation))),
            details("Reserves", _reserve_table(found)),
            details(count_of(len(found.notes), "note"), bullet_list(map(_sentence, found.notes)))
            if found.notes
            else "",
        ]
    )


def _agreement_table(found: MuscleAnalysis) -> str:
    if not found.agreements:
        return ""
    rows: list[list[Cell]] = [
        [
            one.channel,
            one.side,
            ", ".join(one.muscles),
            one.grade,
            f"{one.best_correlation:.2f}",
            f"{1e3 * one.delay_s:.0f}",
            f"{one.correlation:.2f}",
            f"{100 * one.timing_share:.0f}",
            f"{one.peak_activation:.2f}",
            str(one.frames),
        ]
        for one in found.agreements
    ]
    heads = [
        ("channel", ""),
        ("side", ""),
        ("muscles", ""),
        ("agreement", ""),
        ("r", "n"),
        ("delay (ms)", "n"),
        ("r without delay", "n"),
        ("on and off together (%)", "n"),
        ("peak activation", "n"),
        ("frames", "n"),
    ]
    return table(heads, rows, "Agreement of computed activations with measured EMG")


def _peak_table(found: MuscleAnalysis) -> str:
    rows: list[list[Cell]] = [
        [
            one.joint,
            one.side,
            one.name,
            f"{one.peak:.2f}",
            f"{one.time:.2f}",
            f"{one.low:g} to {one.high:g}",
            "yes" if one.within else "no",
        ]
        for one in found.contact_peaks()
    ]
    heads = [
        ("joint", ""),
        ("side", ""),
        ("joint of the model", ""),
        ("peak (body weights)", "n"),
        ("at (s)", "n"),
        ("published", "n"),
        ("within", ""),
    ]
    return table(heads, rows, "Largest joint forces in frames with known loads") if rows else ""


def _reserve_table(found: MuscleAnalysis) -> str:
    result = found.activations
    shares = result.peak_reserves / np.maximum(result.peak_torques, 1e-9)
    rows: list[list[Cell]] = [
        [name, number(reserve), number(torque), f"{100 * share:.1f}"]
        for name, reserve, torque, share in zip(
            result.coordinates, result.peak_reserves, result.peak_torques, shares, strict=True
        )
    ]
    heads = [
        ("coordinate", ""),
        ("largest reserve (N m, N)", "n"),
        ("largest torque", "n"),
        ("share (%)", "n"),
    ]
    return table(heads, rows, "Reserves: torques that muscles do not produce")


def _sentence(text: str) -> str:
    plain = text.strip().rstrip(".")
    return f"{plain[:1].upper()}{plain[1:]}." if plain else ""
