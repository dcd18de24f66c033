"""What an analysis is asked to do: the choices of a user, checked once, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

from homodyn import __version__, catalog
from homodyn.errors import CaptureError, FormatError
from homodyn.foundation import Record, record
from homodyn.model import Model, load

SCALE_METHODS = ("auto", "static", "motion", "none")


@record(eq=True)
class Settings(Record):
    """How to analyse a trial. Paths are as the user gave them; SI units."""

    model: str = "heiman"
    """A body of the catalog, or a file."""
    static: str | None = None
    """A trial of the subject standing still."""
    height: float | None = None
    """m."""
    mass: float | None = None
    """kg."""
    sex: str | None = None
    forces: str | None = None
    """A file of ground forces; the plates of the trial itself when left out."""
    setup: str | None = None
    """An ExternalLoads file that says which columns act on which body."""
    map: str | None = None
    """A TOML file with the labels of the trial for markers of the model."""
    emg: tuple[str, ...] = ()
    """Analog channels that are EMG; found by their names when left out."""
    scale: str = "auto"
    """``static``: marker pairs of the static trial; ``motion``: with the poses, from the trial too;
    ``none``: the model as it is; ``auto``: ``motion``, but ``none`` for a file without a static
    trial."""
    calibrate: bool = True
    """Whether the markers and joint centres are adjusted with the poses."""
    cutoff: float = 6.0
    """Of the low-pass filter on the motion and on forces for torques (Hz)."""
    up: str | None = None
    """The axis of the file that points up, where the file does not tell."""
    robust: bool = False
    """Whether markers far off count less."""
    subject: str = ""
    first: float | None = None
    """Time from which on (s)."""
    last: float | None = None
    """Time up to which (s)."""

    def __post_init__(self) -> None:
        if self.scale not in SCALE_METHODS:
            raise CaptureError(
                f"no scaling is called {self.scale!r}; accepted: {', '.join(SCALE_METHODS)}"
            )
        if self.scale == "static" and self.static is None:
            raise CaptureError(
                "scaling from a static trial needs one: name it with --static, or take "
                "--scale motion to scale from the movement itself"
            )
        for name, low, high, unit in (("height", 0.4, 2.6, "m"), ("mass", 3.0, 400.0, "kg")):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                hint = ""
                if name == "height" and 40 <= value <= 260:
                    hint = f"; {value:g} looks like centimetres: give --height {value / 100:g}"
                raise CaptureError(
                    f"{name} is {value:g} {unit}; expected {low:g} to {high:g} {unit}{hint}"
                )
        if self.sex not in (None, "male", "female"):
            raise CaptureError(f"sex is {self.sex!r}; accepted: male, female")
        if not self.cutoff > 0:
            raise CaptureError(f"cutoff is {self.cutoff:g} Hz; expected a frequency above 0")

    @property
    def from_catalog(self) -> bool:
        """Whether the model is a body of the catalog."""
        names = [entry.name for entry in catalog.entries()]
        return self.model in names and not Path(self.model).exists()

    @property
    def scale_method(self) -> str:
        """What ``auto`` means here."""
        if self.scale != "auto":
            return self.scale
        if self.from_catalog:
            return "motion" if self.calibrate else ("static" if self.static else "none")
        return ("motion" if self.calibrate else "static") if self.static else "none"

    def build_model(self) -> Model:
        """The generic model."""
        if not self.from_catalog:
            return load(self.model, as_measured=True)
        if self.mass is None:
            raise CaptureError(
                f"the mass of the subject is missing: {self.model} is a generic body, so give "
                "--mass in kg (and --height in m when it is known)"
            )
        entry = next(entry for entry in catalog.entries() if entry.name == self.model)
        accepted = set(signature(entry.build).parameters)
        given = {
            word: value
            for word, value in (
                ("height", self.height),
                ("size", self.height),
                ("mass", self.mass),
                ("sex", self.sex),
            )
            if value is not None and word in accepted
        }
        return entry.build(**given)

    def files(self) -> dict[str, str]:
        """Files that the result depends on besides the trial, by what they are."""
        named = {name: getattr(self, name) for name in ("static", "forces", "setup", "map")}
        if not self.from_catalog:
            named["model"] = self.model
        return {name: path for name, path in named.items() if path}

    def with_absolute_paths(self) -> Settings:
        """The same with whole paths, for processes that start in another folder."""
        whole: dict[str, Any] = {
            name: str(Path(path).resolve()) for name, path in self.files().items()
        }
        return replace(self, **whole)

    def with_file_names(self) -> Settings:
        """The same with bare file names, which mean the same on any machine."""
        bare: dict[str, Any] = {name: Path(path).name for name, path in self.files().items()}
        return replace(self, **bare)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def command_line(self, trial: str) -> str:
        """The command line that does the same where all files are in one folder."""
        words = ["homodyn", "analyze", _quote(Path(trial).name)]
        portable = self.with_file_names()
        for entry in fields(self):
            value = getattr(portable, entry.name)
            if value == entry.default:
                continue
            option = {"first": "from", "last": "to"}.get(entry.name, entry.name)
            if entry.name == "calibrate":
                words.append("--no-calibrate")
            elif value is True:
                words.append(f"--{option}")
            elif isinstance(value, tuple):
                words += [f"--{option} {_quote(item)}" for item in value]
            else:
                words.append(f"--{option} {_quote(str(value))}")
        return " ".join([*words, "-o results"])


def fingerprint(trial: str | Path, settings: Settings) -> str:
    """One word for everything a result depends on: contents of files, settings and version."""
    told = {
        "version": __version__,
        "settings": {k: v for k, v in settings.to_dict().items() if k not in settings.files()},
        "files": {
            "trial": file_digest(trial),
            **{name: file_digest(path) for name, path in settings.files().items()},
        },
        "suffix": Path(trial).suffix.lower(),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def file_digest(path: str | Path) -> str:
    """SHA-256 of the content of a file."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        raise FormatError("there is no such file", str(path)) from None
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error


def _quote(word: str) -> str:
    import shlex

    return shlex.quote(word)
