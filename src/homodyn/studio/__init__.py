"""The studio: view, pose, fit and compare bodies in the browser.

`Session` holds the open bodies and recordings and is independent of the page, which
`homodyn.studio.studio.Studio` serves.
"""

from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.session import Session

__all__ = ["Actor", "Session", "StudioDocument"]
