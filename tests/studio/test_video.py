"""Images and videos of the view."""

import io
import shutil

import numpy as np
import pytest
from PIL import Image

from homodyn.errors import HomodynError
from homodyn.studio import video


def frames(count=4):
    images = []
    for k in range(count):
        image = np.full((24, 32, 3), 255, dtype=np.uint8)
        image[:, 8 * k : 8 * k + 8] = (200, 30, 30)
        images.append(image)
    return images


def test_a_gif_has_every_frame_and_its_rate():
    animation = Image.open(io.BytesIO(video.gif(frames(), rate=20.0)))
    assert animation.n_frames == 4
    for k in range(4):
        animation.seek(k)
        assert animation.info["duration"] == 50
        colors = np.asarray(animation.convert("RGB"))[12, 4::8]
        assert [tuple(c) for c in colors].index((200, 30, 30)) == k


def test_a_transparent_image_gets_the_background_of_the_page():
    clear = np.zeros((2, 2, 4), dtype=np.uint8)
    assert (video.flatten(clear, dark=False) == 255).all()
    assert (video.flatten(clear, dark=True) < 64).all()
    image = video.flatten(np.full((2, 2, 4), 255, dtype=np.uint8), dark=True)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(video.png(image)))), image)


def test_frame_times_follow_the_speed_and_are_limited():
    np.testing.assert_allclose(video.frame_times(1.0, 2.0, 0.5, 20.0)[:3], [1.0, 1.025, 1.05])
    assert len(video.frame_times(1.0, 2.0, 0.5, 20.0)) == 40
    with pytest.raises(HomodynError, match="limit is 60 s"):
        video.frame_times(0.0, 10.0, 0.1, 20.0)


def test_mp4_needs_ffmpeg(monkeypatch):
    if video.ffmpeg() is not None:
        assert video.mp4(frames())[4:8] == b"ftyp"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(video, "find_spec", lambda name: None)
    with pytest.raises(HomodynError, match="needs ffmpeg"):
        video.mp4(frames())
