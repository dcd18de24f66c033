"""C3D files made byte by byte, with everything a strange recording system might write.

Nothing here is shared with the reader: the layout stands here a second time, in struct.
"""

import struct
from dataclasses import dataclass, field

import numpy as np

BLOCK = 512
INTEL, DEC, MIPS = 84, 85, 86


@dataclass
class C3D:
    """What to put in a file; lengths in the unit of the file."""

    points: np.ndarray = field(default_factory=lambda: np.zeros((1, 0, 3)))
    """(frames, points, 3)."""
    residuals: np.ndarray | None = None
    """(frames, points): negative where a point is not seen."""
    analog: np.ndarray | None = None
    """(samples, channels), as stored."""
    rate: float = 100.0
    first: int = 1
    groups: dict = field(default_factory=dict)
    """Parameters by group and name: numbers, arrays, lists of texts, or (code, shape, bytes)."""
    processor: int = INTEL
    scale: float = -1.0
    """Negative: stored as reals; positive: as integers times this."""
    header_events: tuple = ()
    """(time, four letters) each."""
    header: dict = field(default_factory=dict)
    """Numbers to write into the header whatever the truth: points, analog, first, last, ..."""

    def bytes(self) -> bytes:
        frames, points, _ = self.points.shape
        analog = np.zeros((frames, 0)) if self.analog is None else self.analog
        channels, per_frame = analog.shape[1], len(analog) // frames
        groups = {
            "POINT": {
                "USED": points,
                "FRAMES": min(frames, 65535),
                "SCALE": float(self.scale),
                "RATE": float(self.rate),
                "UNITS": ["mm"],
                "LABELS": [f"M{k}" for k in range(points)],
            },
            "ANALOG": {"USED": channels, "RATE": float(self.rate * per_frame)},
        }
        for group, values in self.groups.items():
            if values is None:
                groups.pop(group, None)
            else:
                groups.setdefault(group, {}).update(values)
        for values in groups.values():
            for name in [name for name, value in values.items() if value is None]:
                del values[name]
        section = self._section(groups)
        start = 1 + 1 + len(section) // BLOCK
        return (
            self._header(points, channels, per_frame, frames, start) + section + self._data(analog)
        )

    def _order(self) -> str:
        return ">" if self.processor == MIPS else "<"

    def real(self, value: float) -> bytes:
        if self.processor != DEC:
            return struct.pack(self._order() + "f", value)
        raw = struct.pack("<f", value * 4.0)
        return raw[2:] + raw[:2]

    def word(self, value: int) -> bytes:
        return struct.pack(self._order() + "H", int(value) & 0xFFFF)

    def _header(self, points, channels, per_frame, frames, start) -> bytes:
        said = {
            "points": points,
            "analog": channels * per_frame,
            "first": self.first,
            "last": min(self.first + frames - 1, 65535),
            "start": start,
            "per_frame": per_frame,
            "rate": self.rate,
        } | self.header
        head = bytearray(BLOCK)
        head[0:2] = b"\x02\x50"
        words = {2: "points", 4: "analog", 6: "first", 8: "last", 16: "start", 18: "per_frame"}
        for place, name in words.items():
            head[place : place + 2] = self.word(said[name])
        head[12:16] = self.real(self.scale)
        head[20:24] = self.real(said["rate"])
        if self.header_events:
            head[298:300] = self.word(0x3039)
            head[300:302] = self.word(len(self.header_events))
            for k, (time, label) in enumerate(self.header_events):
                head[304 + 4 * k : 308 + 4 * k] = self.real(time)
                head[396 + 4 * k : 400 + 4 * k] = label.encode().ljust(4)[:4]
        return bytes(head)

    def _section(self, groups) -> bytes:
        out = bytearray()
        for number, (group, values) in enumerate(groups.items(), start=1):
            out += self._record(group, -number, b"")
            for name, value in values.items():
                out += self._record(name, number, self._value(value))
        out += b"\x00\x00"
        blocks = -(-(len(out) + 4) // BLOCK)
        return (bytes([1, 0x50, blocks, self.processor]) + out).ljust(blocks * BLOCK, b"\x00")

    def _record(self, name, number, body) -> bytes:
        text = name.encode()
        return (
            struct.pack("<bb", len(text), number) + text + self.word(3 + len(body)) + body + b"\x00"
        )

    def _value(self, value) -> bytes:
        if isinstance(value, tuple):
            code, shape, data = value
            return struct.pack("<bB", code, len(shape)) + bytes(shape) + data
        if isinstance(value, list):
            width = max([1, *(len(text.encode()) for text in value)])
            data = b"".join(text.encode().ljust(width) for text in value)
            return struct.pack("<bB", -1, 2) + bytes([width, len(value)]) + data
        array = np.asarray(value)
        shape = array.shape
        flat = array.ravel(order="F")
        whole = array.dtype.kind in "iu"
        data = b"".join(self.word(v) if whole else self.real(float(v)) for v in flat)
        return struct.pack("<bB", 2 if whole else 4, len(shape)) + bytes(shape) + data

    def _data(self, analog) -> bytes:
        frames, points, _ = self.points.shape
        residuals = np.zeros((frames, points)) if self.residuals is None else self.residuals
        quads = np.concatenate([self.points, residuals[..., None]], axis=-1)
        if self.scale > 0:
            quads[..., :3] = np.rint(quads[..., :3] / self.scale)
        table = np.concatenate([quads.reshape(frames, -1), analog.reshape(frames, -1)], axis=1)
        if self.scale > 0:
            return np.rint(table).astype(np.int64).astype(self._order() + "i2").tobytes()
        if self.processor == DEC:
            raw = (table * 4.0).astype("<f4").view("<u2").reshape(-1, 2)[:, ::-1]
            return raw.tobytes()
        return table.astype(self._order() + "f4").tobytes()


def person(frames: int = 20, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Positions (mm, Z up) of a few markers of a person who walks along X, and their labels."""
    labels = ["LFHD", "RFHD", "C7", "LASI", "RASI", "LKNE", "RKNE", "LHEE", "RHEE", "LTOE"]
    heights = np.array([1700, 1690, 1500, 1000, 1010, 520, 515, 60, 55, 40], dtype=float)
    random = np.random.default_rng(seed)
    rest = np.stack([random.uniform(-100, 100, 10), random.uniform(-200, 200, 10), heights], -1)
    way = np.linspace(300.0, 900.0, frames)[:, None, None] * np.array([1.0, 0.0, 0.0])
    return rest + way + random.normal(0, 3, (frames, 10, 3)), labels


def standing_plate(
    frames: int = 20, per_frame: int = 4, sign: float = 1.0
) -> tuple[np.ndarray, dict]:
    """Channels (N, N mm) and parameters of one plate of type 2 under a person who stands on it.

    The corners are in the order that makes the plate's own z point into the floor; the ground
    reaction is then negative along it.
    """
    samples = frames * per_frame
    phase = np.linspace(0, 3, samples)
    force = np.stack([20 * np.sin(phase), 10 * np.cos(phase), -700 - 30 * np.sin(phase)], -1)
    moment = np.stack([4e4 * np.cos(phase), -3e4 * np.sin(phase), 2e3 + 0 * phase], -1)
    corners = np.array([(0, 400, 0), (600, 400, 0), (600, 0, 0), (0, 0, 0)], dtype=float)
    group = {
        "USED": 1,
        "TYPE": np.array([2]),
        "ZERO": np.array([1, 0]),
        "CORNERS": corners.T[..., None],
        "ORIGIN": np.array([[1.0], [2.0], [-40.0]]),
        "CHANNEL": np.arange(1, 7)[:, None],
    }
    return sign * np.concatenate([force, moment], axis=1), group
