"""Bars of live joint torques as HTML for the page."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from homodyn.model import Model
from homodyn.model.side import side_of
from homodyn.report.colors import GRAY, SIDE_COLORS

MAX_BARS = 14
SCALE_NM = 50.0
"""Torque (N m) of a bar of full length, unless a larger one occurs."""
BAR_HEIGHT_PX = 13


def largest_torques(model: Model, torques: np.ndarray, peaks: np.ndarray) -> list[int]:
    """Columns of the joints with the largest peaks so far, in the order of the model.

    Args:
        model: The model.
        torques: (nv,), N m.
        peaks: (nv,), N m: largest magnitudes so far.

    Returns:
        At most `MAX_BARS` columns; those of the root are left out.
    """
    root = set(model.root.v)
    columns = [k for k in range(model.nv) if k not in root]
    order = sorted(columns, key=lambda k: -max(peaks[k], abs(torques[k])))
    return sorted(order[:MAX_BARS])


def torque_bars(names: Sequence[str], torques: Sequence[float], scale: float = SCALE_NM) -> str:
    """Bars from the middle: positive torques to the right.

    Args:
        names: Names of the coordinates.
        torques: N m.
        scale: Torque of a bar of full length (N m).

    Returns:
        HTML.
    """
    rows = []
    for name, torque in zip(names, torques, strict=True):
        share = float(np.clip(torque / scale, -1.0, 1.0)) * 50.0
        left = 50.0 + min(share, 0.0)
        side = side_of(name)
        color = GRAY if side is None else SIDE_COLORS[side.value]
        rows.append(
            f"<div style='display:flex;align-items:center;height:{BAR_HEIGHT_PX}px;"
            "font-size:10px'>"
            f"<span style='width:44%;overflow:hidden;white-space:nowrap'>{html.escape(name)}</span>"
            "<span style='position:relative;flex:1;height:8px'>"
            "<span style='position:absolute;left:50%;width:1px;height:8px;background:#8888'></span>"
            f"<span style='position:absolute;left:{left:.1f}%;width:{abs(share):.1f}%;height:8px;"
            f"background:{color}'></span></span>"
            f"<span style='width:34px;text-align:right'>{torque:.0f}</span></div>"
        )
    return f"<div style='padding:0 0.75em'>{''.join(rows)}</div>"
