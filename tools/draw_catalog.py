"""Draw every model of the catalog for the guide, with a small palette to keep the files small.

Example: python tools/draw_catalog.py docs/images
"""

import sys
from pathlib import Path

from png_palette import reduce_colors

from homodyn import catalog
from homodyn.report import (
    draw_model,
    save_figure,
)

PALETTE_SIZE = 256


def main() -> None:
    """Write one figure per model into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for entry in catalog.entries():
        path = folder / f"{entry.name}.png"
        save_figure(draw_model(catalog.build(entry.name), title=entry.name), path)
        reduce_colors(path, PALETTE_SIZE)


if __name__ == "__main__":
    main()
