"""Ways to find things on the page of the studio."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from homodyn.studio.marker_editing import Camera


def unfold(page: Any, title: str) -> None:
    """Open, or close, the folder of that title."""
    page.get_by_text(title, exact=True).first.click()


def number_box(page: Any, handle: Any) -> Any:
    """The box beside a slider into which a number can be typed."""
    return page.locator(f"[id='{handle._impl.uuid}']").locator("xpath=following-sibling::*//input")


def type_number(page: Any, handle: Any, value: float) -> None:
    """Set a slider by typing."""
    box = number_box(page, handle)
    box.fill(f"{value:g}")
    box.press("Enter")


def show_tab(page: Any, title: str) -> None:
    """Open one of the tabs at the right."""
    page.get_by_role("tab", name=title, exact=True).click()


def choose(page: Any, handle: Any, option: str) -> None:
    """Choose an entry of a dropdown."""
    page.locator(f"[id='{handle._impl.uuid}']").click()
    page.get_by_role("option", name=option, exact=True).click()


def pixel(page: Any, studio: Any, point: Any) -> tuple[float, float]:
    """Where a point of the image (3,), m, is on the page."""
    (client,) = studio.server.get_clients().values()
    view = client.camera
    camera = Camera(
        np.array(view.position), np.array(view.wxyz), float(view.fov), float(view.aspect)
    )
    (at,) = camera.project(np.asarray(point, dtype=float)[None])
    box = page.locator("canvas").first.bounding_box()
    return box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"]


def arrow_of(page: Any, studio: Any, node: Any) -> tuple[np.ndarray, np.ndarray]:
    """Where on the page a handle is, and the tip of its arrow along x."""
    origin = np.array(node.position) + np.asarray(studio.stage.root.position)
    turn = Rotation.from_quat(np.array(node.wxyz), scalar_first=True)
    tip = origin + 0.9 * node.scale * turn.apply([1.0, 0.0, 0.0])
    return np.array(pixel(page, studio, origin)), np.array(pixel(page, studio, tip))
