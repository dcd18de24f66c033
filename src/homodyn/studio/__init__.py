"""The studio: see, pose, fit and compare bodies in a page of the browser.

`Session` holds what is open and knows nothing of pages; `Studio` serves the page over it.
"""

from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.session import Session

__all__ = ["Actor", "Session", "StudioDocument"]
