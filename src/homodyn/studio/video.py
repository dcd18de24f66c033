"""Pictures of the page become files: one as PNG, many as GIF or, where ffmpeg is there, MP4."""

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

GIF_RATE, MP4_RATE = 20.0, 30.0
"""Pictures a second (Hz). A GIF counts in hundredths of a second."""
MAX_VIDEO_S = 60.0
"""s of film at most."""
BACKGROUND = {False: (255, 255, 255), True: (18, 18, 18)}
"""Behind what is drawn, light and dark."""


def frame_times(first: float, last: float, speed: float, rate: float) -> np.ndarray:
    """Instants (s) of the pictures of a film that plays a motion at a speed."""
    length = (last - first) / speed
    if length > MAX_VIDEO_S:
        raise HomodynError(
            f"the film would be {length:.0f} s long; {MAX_VIDEO_S:.0f} s is the most: play faster"
        )
    return first + speed * np.arange(max(round(length * rate), 1)) / rate


def flatten(picture: np.ndarray, dark: bool) -> np.ndarray:
    """A picture (h, w, 3) of one with transparency (h, w, 4) over the colour of the page."""
    if picture.shape[2] == 3:
        return picture
    share = picture[..., 3:] / 255.0
    mixed = picture[..., :3] * share + np.array(BACKGROUND[dark]) * (1 - share)
    return np.rint(mixed).astype(np.uint8)


def png(picture: np.ndarray) -> bytes:
    """One picture (h, w, 3) as a file."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def gif(pictures: Sequence[np.ndarray], rate: float = GIF_RATE) -> bytes:
    """A film that plays over and over; all pictures share the colours of the middle one."""
    palette = Image.fromarray(pictures[len(pictures) // 2]).quantize(255)
    frames = [
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in pictures
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
    """The program that makes MP4, from the system or from the package imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    if find_spec("imageio_ffmpeg") is None:
        return None
    return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())


def mp4(pictures: Sequence[np.ndarray], rate: float = MP4_RATE) -> bytes:
    """A film in H.264, made by ffmpeg; refused where that is missing."""
    program = ffmpeg()
    if program is None:
        raise HomodynError(
            "MP4 needs ffmpeg, which is not installed; save a GIF, or: pip install imageio-ffmpeg"
        )
    height, width = pictures[0].shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        command = [
            *(program, "-loglevel", "error", "-y"),
            *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"),
            *("-r", f"{rate:g}", "-i", "-"),
            *("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"),
            *("-movflags", "+faststart", str(path)),
        ]
        content = b"".join(np.ascontiguousarray(p, dtype=np.uint8).tobytes() for p in pictures)
        done = subprocess.run(command, input=content, capture_output=True, check=False)
        if done.returncode or not path.is_file():
            reason = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise HomodynError(f"ffmpeg did not make the film: {' '.join(reason)}")
        return path.read_bytes()
