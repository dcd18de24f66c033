"""Draw every body of the catalog for the guide, in few colours so that the files stay small.

Example: python tools/draw_catalog.py docs/images
"""

import sys
from pathlib import Path

from PIL import Image

from homodyn import catalog
from homodyn.report import (
    draw_model,
    save_figure,
)

COLOURS = 256


def main() -> None:
    """Write one picture a body into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for entry in catalog.entries():
        path = folder / f"{entry.name}.png"
        save_figure(draw_model(catalog.build(entry.name), title=entry.name), path)
        with Image.open(path) as picture:
            # Maximum coverage keeps the colours that only a few small signs have.
            few = picture.convert("RGB").quantize(
                COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        few.save(path, optimize=True)


if __name__ == "__main__":
    main()
