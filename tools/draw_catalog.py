"""Draw every body of the catalog for the guide.

Example: python tools/draw_catalog.py docs/images
"""

import sys
from pathlib import Path

from homodyn import catalog
from homodyn.report import draw, save_drawing


def main() -> None:
    """Write one picture a body into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for entry in catalog.entries():
        model = catalog.build(entry.name)
        save_drawing(draw(model, model.neutral()), folder / f"{entry.name}.png")


if __name__ == "__main__":
    main()
