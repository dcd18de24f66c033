"""Ways to find things on the page of the studio."""

from __future__ import annotations

from typing import Any


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
