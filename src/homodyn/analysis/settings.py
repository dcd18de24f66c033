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
from homodyn.analysis.muscle_settings import MuscleSettings
from homodyn.capture.scaling import HipRegression
from homodyn.errors import CaptureError, FormatError
from homodyn.foundation import Record, record
from homodyn.model import Model, load
from homodyn.model.formats.osim_marker_set import add_marker_set

SCALE_METHODS = ("auto", "static", "motion", "none")
METHODS = ("inverse", "physics")
EMG_NORMALIZATIONS = ("none", "maximum", "mvc")
_FILE_FIELDS = (
    "static",
    "static_forces",
    "forces",
    "external_loads",
    "map",
    "markerset",
    "scale_setup",
    "plug_in_gait",
    "tasks",
    "emg",
    "mvc",
    "columns",
)
"""Settings that name one file; ``model`` names a file or a model."""
_TRIAL_FIELDS = ("functional", "calibrate_from")
"""Settings that name several trials."""


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
    static_forces: str | None = None
    """A file of the ground forces of the static trial, which weigh the subject; None uses the
    plates of the static trial."""
    height: float | None = None
    """Height of the subject (m)."""
    mass: float | None = None
    """Mass of the subject (kg); None measures it where force plates carry the whole body."""
    sex: str | None = None
    """``"male"`` or ``"female"``."""
    forces: str | None = None
    """A file of ground forces; None uses the plates of the trial."""
    external_loads: str | None = None
    """ExternalLoads file of OpenSim that assigns columns of ``forces`` to bodies."""
    map: str | None = None
    """A TOML file with the labels of the trial for markers of the model."""
    markerset: str | None = None
    """MarkerSet file of OpenSim: its markers are added to the model, or replace those of the same
    name."""
    scale_setup: str | None = None
    """Setup file of OpenSim's ScaleTool: the model is scaled by the static trial as it says, and
    its markers move to the static pose."""
    plug_in_gait: str | None = None
    """Measurements of the subject in a ``.vsk`` file of Vicon: joint angles by the conventions of
    Plug-in Gait are a further result."""
    tasks: str | None = None
    """Task file of OpenSim's inverse kinematics, or a setup file that contains the tasks: marker
    weights and tracked coordinates."""
    functional: tuple[str, ...] = ()
    """Trials of functional movements of the subject, for calibration beside the trial."""
    calibrate_from: tuple[str, ...] = ()
    """Trials of the subject that calibrate the model, with the static trial, instead of the trial
    itself: all trials of a session then have the same model."""
    hip_regression: str = "harrington"
    """Regression of the hip centers on pelvis or legs in calibration: ``harrington``,
    ``harrington-leg``, ``hara`` or ``bell``."""
    symmetric: bool = True
    """Whether left and right segments have the same scale factors."""
    emg: str | None = None
    """A file of electromyograms; None uses the analog channels of the trial."""
    emg_channels: tuple[str, ...] = ()
    """EMG channels, or parts of their names; empty finds them by name."""
    emg_normalize: str = "none"
    """``maximum``: envelopes are divided by their largest value in the trial; ``mvc``: by that of
    the file ``mvc``; ``none``: they keep their unit."""
    mvc: str | None = None
    """A recording of maximal voluntary contractions, with channels of the same names."""
    columns: str | None = None
    """TOML file with the columns of markers and time of a .csv recording."""
    rate: float | None = None
    """Frames per second of a .csv recording without a column of time (Hz)."""
    lenient: bool = False
    """Whether files that end before the number of rows in their header are read as far as they
    go; a note states both numbers."""
    scale: str = "auto"
    """``static``: marker pairs of the static trial; ``motion``: together with the poses, from the
    static trial and the movement; ``none``: the model as it is; ``auto``: ``motion``, unless a
    model file without a static trial already fits the markers."""
    calibrate: bool = True
    """Whether joint centers and marker offsets are estimated together with the poses."""
    cutoff: float | str = "standard"
    """Cutoff of the low-pass filter of motion and forces (Hz); ``"auto"`` chooses it by residual
    analysis of the markers; ``"standard"`` is 6 Hz, and residual analysis for runs."""
    method: str = "inverse"
    """``inverse``: inverse kinematics, and inverse dynamics with force plates; ``physics``: a body
    that springs pull to the markers and motors drive on the ground, without force plates."""
    belt: float | None = None
    """Speed of a treadmill (m/s), against which the stance feet are checked; 0 is still ground;
    None finds it in the stance feet."""
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
    muscles: MuscleSettings | None = None
    """How the torques are shared among the muscles of the model; None: not at all."""

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
        if self.method not in METHODS:
            raise CaptureError(f"no method {self.method!r}; accepted: {', '.join(METHODS)}")
        if self.hip_regression not in list(HipRegression):
            raise CaptureError(
                f"no hip regression {self.hip_regression!r}; accepted: {', '.join(HipRegression)}"
            )
        if self.sex not in (None, "male", "female"):
            raise CaptureError(f"sex is {self.sex!r}; accepted: male, female")
        if isinstance(self.cutoff, str):
            if self.cutoff not in ("standard", "auto"):
                raise CaptureError(
                    f"cutoff is {self.cutoff!r}; accepted: a frequency (Hz), standard or auto"
                )
        elif not self.cutoff > 0:
            raise CaptureError(f"cutoff is {self.cutoff:g} Hz; expected a frequency above 0")
        self._check_lab_options()

    def _check_lab_options(self) -> None:
        """Refuse options that have no meaning, alone or without another one."""
        if self.emg_normalize not in EMG_NORMALIZATIONS:
            raise CaptureError(
                f"no EMG normalization {self.emg_normalize!r}; accepted: "
                f"{', '.join(EMG_NORMALIZATIONS)}"
            )
        if (self.emg_normalize == "mvc") != (self.mvc is not None):
            raise CaptureError(
                "--emg-normalize mvc and --mvc FILE belong together: the file contains the maximal "
                "voluntary contractions that envelopes are divided by"
            )
        if self.external_loads is not None and self.forces is None:
            raise CaptureError(
                "--external-loads assigns columns of a force file: pass that with --forces"
            )
        if self.scale_setup is not None and self.static is None:
            raise CaptureError("--scale-setup measures a static trial: pass that with --static")
        if self.scale_setup is not None and self.scale != "auto":
            raise CaptureError(
                f"--scale-setup says how the model is scaled, and so does --scale {self.scale}: "
                "leave one of them out"
            )
        if self.calibrate_from and self.scale_method != "motion":
            raise CaptureError(
                "--calibrate-from names trials of a calibration; --scale static or none, "
                "--scale-setup and --no-calibrate make none: leave one of them out"
            )
        if self.static_forces is not None and self.static is None:
            raise CaptureError("--static-forces belongs to a static trial: pass that with --static")
        if self.belt is not None and not 0 <= self.belt < 20:
            raise CaptureError(f"belt is {self.belt:g} m/s; expected a speed from 0 to 20 m/s")
        if self.rate is not None and not 0 < self.rate < 1e7:
            raise CaptureError(f"rate is {self.rate:g} Hz; expected a frame rate above 0")

    @property
    def from_catalog(self) -> bool:
        """Whether the model is one of the catalog."""
        names = [entry.name for entry in catalog.entries()]
        return self.model in names and not Path(self.model).exists()

    @property
    def scale_method(self) -> str:
        """The scaling method, with ``auto`` resolved; ``"setup"`` with a setup file."""
        if self.scale_setup is not None:
            return "setup"
        if self.scale != "auto":
            return self.scale
        return "motion" if self.calibrate else ("static" if self.static else "none")

    @property
    def keeps_fitting_model(self) -> bool:
        """Whether a model that already fits the markers is used as it is."""
        given = self.static is not None or bool(self.calibrate_from)
        return self.scale == "auto" and not self.from_catalog and not given

    def build_model(self) -> Model:
        """The generic model.

        Returns:
            A model of the catalog for height, mass and sex, or the model of the file.

        Raises:
            CaptureError: A model of the catalog needs the mass of the subject.
            FormatError: The model file cannot be read.
        """
        if not self.from_catalog:
            return self._with_marker_set(load(self.model, as_measured=True))
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
        return self._with_marker_set(entry.build(**given))

    def _with_marker_set(self, model: Model) -> Model:
        return model if self.markerset is None else add_marker_set(model, self.markerset)

    def files(self) -> dict[str, str]:
        """Files that the result depends on besides the trial, by the name of their setting.

        Several files of one setting are numbered: ``functional 1``.
        """
        numbered = {
            f"{name} {k}": path
            for name in _TRIAL_FIELDS
            for k, path in enumerate(getattr(self, name), start=1)
        }
        return {**self._single_files(), **numbered}

    def _single_files(self) -> dict[str, str]:
        named = {name: getattr(self, name) for name in _FILE_FIELDS}
        if not self.from_catalog:
            named["model"] = self.model
        return {name: path for name, path in named.items() if path}

    def with_absolute_paths(self) -> Settings:
        """The settings with absolute paths, for processes that start in another folder."""
        absolute: dict[str, Any] = {
            name: str(Path(path).resolve()) for name, path in self._single_files().items()
        }
        absolute |= {
            name: tuple(str(Path(path).resolve()) for path in getattr(self, name))
            for name in _TRIAL_FIELDS
        }
        return replace(self, **absolute)

    def with_file_names(self) -> Settings:
        """The settings with file names without folders, which are the same on any machine."""
        names: dict[str, Any] = {
            name: Path(path).name for name, path in self._single_files().items()
        }
        names |= {
            name: tuple(Path(path).name for path in getattr(self, name)) for name in _TRIAL_FIELDS
        }
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
            option = {"first": "from", "last": "to"}.get(entry.name, entry.name.replace("_", "-"))
            if value is False:
                words.append(f"--no-{option}")
            elif isinstance(value, MuscleSettings):
                words += value.command_words()
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
        "settings": {
            k: v
            for k, v in settings.to_dict().items()
            if k not in settings.files() and k not in _TRIAL_FIELDS
        },
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
