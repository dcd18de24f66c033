"""Names of feet and of parts of feet."""

from __future__ import annotations

import re

_FOOT = re.compile(r"foot|feet|calcn|calcan|talus|heel|toe|sole", re.IGNORECASE)


def is_foot_name(name: str) -> bool:
    """Whether a body, a frame or a contact is a foot or a part of one, by its name.

    Args:
        name: The name.

    Returns:
        True for ``"FootRight"``, ``"calcn_l"``, ``"HeelLeft"`` and similar names.
    """
    return _FOOT.search(name) is not None
