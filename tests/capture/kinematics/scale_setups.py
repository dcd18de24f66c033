"""Setup files of OpenSim's ScaleTool, as text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

Measurements = Mapping[str, tuple[Sequence[tuple[str, str]], Mapping[str, str]]]
"""By name, pairs of markers, and axes by body."""


def write_setup(
    path: Path,
    measurements: Measurements,
    weights: Mapping[str, float],
    *,
    manual: Mapping[str, Sequence[float]] | None = None,
    order: str = "measurements manualScale",
    mass: float = 0.0,
    keep_shares: bool = False,
    interval: str = "0 0.1",
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a setup; ``files`` are the elements that OpenSim itself needs."""
    names = {"model_file": "Unassigned", "marker_set_file": "Unassigned", "marker_file": ""}
    names |= files or {}
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="30000"><ScaleTool name="subject"><mass>{mass}</mass>
<GenericModelMaker><model_file>{names["model_file"]}</model_file>
<marker_set_file>{names["marker_set_file"]}</marker_set_file></GenericModelMaker>
<ModelScaler><apply>true</apply><scaling_order>{order}</scaling_order>
<MeasurementSet><objects>{"".join(_measurement(n, *m) for n, m in measurements.items())}</objects>
</MeasurementSet><ScaleSet><objects>{"".join(map(_scale, (manual or {}).items()))}</objects>
</ScaleSet><marker_file>{names["marker_file"]}</marker_file>
<time_range>{interval}</time_range>
<preserve_mass_distribution>{str(keep_shares).lower()}</preserve_mass_distribution>
<output_model_file>sized.osim</output_model_file></ModelScaler>
<MarkerPlacer><apply>true</apply><IKTaskSet><objects>
{"".join(map(_task, weights.items()))}
</objects></IKTaskSet><marker_file>{names["marker_file"]}</marker_file>
<time_range>{interval}</time_range>
<output_motion_file>pose.mot</output_motion_file>
<output_model_file>placed.osim</output_model_file></MarkerPlacer></ScaleTool></OpenSimDocument>
"""
    path.write_text(text)
    return path


def _measurement(name: str, pairs: Sequence[tuple[str, str]], bodies: Mapping[str, str]) -> str:
    lengths = "".join(f"<MarkerPair><markers> {a} {b}</markers></MarkerPair>" for a, b in pairs)
    axes = "".join(
        f'<BodyScale name="{body}"><axes> {" ".join(each)}</axes></BodyScale>'
        for body, each in bodies.items()
    )
    return (
        f'<Measurement name="{name}"><apply>true</apply><MarkerPairSet><objects>{lengths}'
        f"</objects></MarkerPairSet><BodyScaleSet><objects>{axes}</objects></BodyScaleSet>"
        "</Measurement>"
    )


def _scale(entry: tuple[str, Sequence[float]]) -> str:
    body, factors = entry
    values = " ".join(map(str, np.asarray(factors)))
    return (
        f'<Scale name="{body}"><scales>{values}</scales><segment>{body}</segment>'
        "<apply>true</apply></Scale>"
    )


def _task(entry: tuple[str, float]) -> str:
    name, weight = entry
    return (
        f'<IKMarkerTask name="{name}"><apply>true</apply><weight>{weight}</weight></IKMarkerTask>'
    )
