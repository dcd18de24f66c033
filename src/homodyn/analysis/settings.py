"""Settings of an analysis, checked when they are made, and the fingerprint of a run."""

from __future__ import annotations

import hashlib
import json
import shlex
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
    """How to analyze a trial. Paths are as the user gave them; SI units.

    Raises:
        CaptureError: A value is out of range or not accepted.
    """

    model: str = "heiman"
    """A model of the catalog, or a file."""
    static: str | None = None
    """A trial in which the subject stands still."""
    height: float | None = None
    """Height of the subject (m)."""
    mass: float | None = None
    """Mass of the subject (kg)."""
    sex: str | None = None
    """``"male"`` or ``"female"``."""
    forces: str | None = None
    """A file of ground forces; None uses the plates of the trial."""
    setup: str | None = None
    """ExternalLoads file that assigns columns of ``forces`` to bodies."""
    map: str | None = None
    """A TOML file with the labels of the trial for markers of the model."""
    emg: tuple[str, ...] = ()
    """EMG channels, or parts of their names; empty finds them by name."""
    scale: str = "auto"
    """``static``: marker pairs of the static trial; ``motion``: together with the poses, from the
    static trial and the movement; ``none``: the model as it is; ``auto``: ``motion``, or ``none``
    for a model file without a static trial."""
    calibrate: bool = True
    """Whether joint centers and marker offsets are estimated together with the poses."""
    cutoff: float | str = 6.0
    """Cutoff of the low-pass filter of motion and forces (Hz); ``"auto"`` chooses it by residual
    analysis of the markers."""
    up: str | None = None
    """The axis of the file that points up; None detects it."""
    robust: bool = False
    """Robust fit: down-weight outlier markers."""
    subject: str = ""
    """Name of the subject in the report."""
    first: float | None = None
    """Start of the analyzed interval (s)."""
    last: float | None = None
    """End of the analyzed interval (s)."""

    def __post_init__(self) -> None:
        if self.scale not in SCALE_METHODS:
            raise CaptureError(
                f"no scaling method {self.scale!r}; accepted: {', '.join(SCALE_METHODS)}"
            )
        if self.scale == "static" and self.static is None:
            raise CaptureError(
                "scaling from a static trial needs one: pass it with --static, or use --scale "
                "motion to scale from the movement itself"
            )
        for name, low, high, unit in (("height", 0.4, 2.6, "m"), ("mass", 3.0, 400.0, "kg")):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                hint = ""
                if name == "height" and 40 <= value <= 260:
                    hint = f"; {value:g} looks like centimeters: pass --height {value / 100:g}"
                raise CaptureError(
                    f"{name} is {value:g} {unit}; expected {low:g} to {high:g} {unit}{hint}"
                )
        if self.sex not in (None, "male", "female"):
            raise CaptureError(f"sex is {self.sex!r}; accepted: male, female")
        if isinstance(self.cutoff, str):
            if self.cutoff != "auto":
                raise CaptureError(f"cutoff is {self.cutoff!r}; accepted: a frequency (Hz) or auto")
        elif not self.cutoff > 0:
            raise CaptureError(f"cutoff is {self.cutoff:g} Hz; expected a frequency above 0")

    @property
    def from_catalog(self) -> bool:
        """Whether the model is one of the catalog."""
        names = [entry.name for entry in catalog.entries()]
        return self.model in names and not Path(self.model).exists()

    @property
    def scale_method(self) -> str:
        """The scaling method, with ``auto`` resolved."""
        if self.scale != "auto":
            return self.scale
        if self.from_catalog:
            return "motion" if self.calibrate else ("static" if self.static else "none")
        return ("motion" if self.calibrate else "static") if self.static else "none"

    def build_model(self) -> Model:
        """The generic model.

        Returns:
            A model of the catalog for height, mass and sex, or the model of the file.

        Raises:
            CaptureError: A model of the catalog needs the mass of the subject.
            FormatError: The model file cannot be read.
        """
        if not self.from_catalog:
            return load(self.model, as_measured=True)
        if self.mass is None:
            raise CaptureError(
                f"the mass of the subject is missing: {self.model} is a generic model, so pass "
                "--mass in kg (and --height in m if it is known)"
            )
        entry = next(entry for entry in catalog.entries() if entry.name == self.model)
        accepted = set(signature(entry.build).parameters)
        given = {
            name: value
            for name, value in (
                ("height", self.height),
                ("size", self.height),
                ("mass", self.mass),
                ("sex", self.sex),
            )
            if value is not None and name in accepted
        }
        return entry.build(**given)

    def files(self) -> dict[str, str]:
        """Files that the result depends on besides the trial, by the name of their setting."""
        named = {name: getattr(self, name) for name in ("static", "forces", "setup", "map")}
        if not self.from_catalog:
            named["model"] = self.model
        return {name: path for name, path in named.items() if path}

    def with_absolute_paths(self) -> Settings:
        """The settings with absolute paths, for processes that start in another folder."""
        absolute: dict[str, Any] = {
            name: str(Path(path).resolve()) for name, path in self.files().items()
        }
        return replace(self, **absolute)

    def with_file_names(self) -> Settings:
        """The settings with file names without folders, which are the same on any machine."""
        names: dict[str, Any] = {name: Path(path).name for name, path in self.files().items()}
        return replace(self, **names)

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values, one entry per field.

        Returns:
            A dictionary that `from_dict` accepts.
        """
        return asdict(self)

    def command_line(self, trial: str) -> str:
        """The equivalent command line, with all files in the working folder.

        Args:
            trial: The file of the trial.

        Returns:
            ``homodyn analyze ...``
        """
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
    """A digest of everything a result depends on: contents of files, settings and version."""
    content = {
        "version": __version__,
        "settings": {k: v for k, v in settings.to_dict().items() if k not in settings.files()},
        "files": {
            "trial": file_digest(trial),
            **{name: file_digest(path) for name, path in settings.files().items()},
        },
        "suffix": Path(trial).suffix.lower(),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


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
    return shlex.quote(word)
