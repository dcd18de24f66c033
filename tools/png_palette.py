"""Smaller PNG files for the guide, by a palette of few colors."""

from pathlib import Path

from PIL import Image


def reduce_colors(path: Path, colors: int) -> None:
    """Rewrite a PNG file with a palette.

    Args:
        path: The file.
        colors: Number of colors, at most 256.
    """
    with Image.open(path) as image:
        # Maximum coverage keeps colors of small symbols.
        reduced = image.convert("RGB").quantize(
            colors, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    reduced.save(path, optimize=True)
