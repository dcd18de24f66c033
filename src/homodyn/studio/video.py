"""Images and videos of the view: PNG, GIF and, with ffmpeg, MP4."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from homodyn.errors import HomodynError

GIF_RATE_HZ, MP4_RATE_HZ = 20.0, 30.0
"""Frames per second. The frame time of a GIF is a multiple of 10 ms."""
MAX_VIDEO_S = 60.0
"""Longest video (s)."""
LIGHT_BACKGROUND, DARK_BACKGROUND = (255, 255, 255), (20, 20, 20)


def frame_times(first: float, last: float, speed: float, rate: float) -> np.ndarray:
    """Instants (s) of the frames of a video that plays from ``first`` to ``last`` (s) at a speed.

    Raises:
        HomodynError: The video would be longer than `MAX_VIDEO_S`.
    """
    length = (last - first) / speed
    if length > MAX_VIDEO_S:
        raise HomodynError(
            f"the video would be {length:.0f} s long; the limit is {MAX_VIDEO_S:.0f} s: select a "
            "higher speed"
        )
    return first + speed * np.arange(max(round(length * rate), 1)) / rate


def flatten(image: np.ndarray, dark: bool) -> np.ndarray:
    """An image (h, w, 4) with transparency on the background of the page, (h, w, 3)."""
    if image.shape[2] == 3:
        return image
    share = image[..., 3:] / 255.0
    background = np.array(DARK_BACKGROUND if dark else LIGHT_BACKGROUND)
    return np.rint(image[..., :3] * share + background * (1 - share)).astype(np.uint8)


def png(image: np.ndarray) -> bytes:
    """An image (h, w, 3) as the bytes of a PNG file."""
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def gif(images: Sequence[np.ndarray], rate: float = GIF_RATE_HZ) -> bytes:
    """Images (h, w, 3) as the bytes of a looping GIF; all share the palette of the middle one."""
    palette = Image.fromarray(images[len(images) // 2]).quantize(255)
    frames = [
        Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE)
        for image in images
    ]
    stream = io.BytesIO()
    frames[0].save(
        stream,
        "GIF",
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 / rate),
        loop=0,
        optimize=False,
    )
    return stream.getvalue()


def ffmpeg() -> str | None:
    """Path of ffmpeg, of the system or of the package imageio-ffmpeg; None if not installed."""
    if found := shutil.which("ffmpeg"):
        return found
    if find_spec("imageio_ffmpeg") is None:
        return None
    return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())


def require_ffmpeg() -> str:
    """Path of ffmpeg.

    Raises:
        HomodynError: It is not installed.
    """
    program = ffmpeg()
    if program is None:
        raise HomodynError(
            "MP4 needs ffmpeg, which is not installed; save a GIF, or: pip install imageio-ffmpeg"
        )
    return program


def mp4(images: Sequence[np.ndarray], rate: float = MP4_RATE_HZ) -> bytes:
    """Images (h, w, 3) as the bytes of an H.264 video.

    Raises:
        HomodynError: ffmpeg is not installed, or fails.
    """
    program = require_ffmpeg()
    height, width = images[0].shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        command = [
            *(program, "-loglevel", "error", "-y"),
            *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"),
            *("-r", f"{rate:g}", "-i", "-"),
            *("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"),
            *("-movflags", "+faststart", str(path)),
        ]
        content = b"".join(np.ascontiguousarray(p, dtype=np.uint8).tobytes() for p in images)
        result = subprocess.run(command, input=content, capture_output=True, check=False)
        if result.returncode or not path.is_file():
            reason = result.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise HomodynError(f"ffmpeg failed: {' '.join(reason)}")
        return path.read_bytes()
