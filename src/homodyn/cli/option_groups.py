"""Groups of options that several commands share, each as one typed record.

A command takes a group as one parameter and is decorated with `expand_options`; on the command
line, every field of the group is an option of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from homodyn.errors import HomodynError

if TYPE_CHECKING:
    from homodyn.analysis import BatchOptions, Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing result.")]
OutputFolder = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results.")
]


@dataclass(frozen=True)
class SubjectOptions:
    """The model, the subject, the static trial, ground forces and the filter."""

    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FILE",
            help="Model: a catalog name (heiman, human36, ...) or a file.",
        ),
    ] = "heiman"
    static: Annotated[
        Path | None,
        typer.Option(
            "--static",
            metavar="FILE",
            help="Static trial of the subject, for scaling the model.",
        ),
    ] = None
    static_forces: Annotated[
        Path | None,
        typer.Option(
            "--static-forces",
            metavar="FILE",
            help="Ground forces of the static trial in a separate file; they give the mass.",
        ),
    ] = None
    height: Annotated[
        float | None, typer.Option("--height", metavar="M", help="Height of the subject (m).")
    ] = None
    mass: Annotated[
        float | None,
        typer.Option(
            "--mass", metavar="KG", help="Mass of the subject (kg); model files: or from plates."
        ),
    ] = None
    forces: Annotated[
        Path | None,
        typer.Option(
            "--forces",
            metavar="FILE",
            help="Ground forces in a separate file: .mot, .sto or .csv.",
        ),
    ] = None
    external_loads: Annotated[
        Path | None,
        typer.Option(
            "--external-loads",
            metavar="XML",
            help="ExternalLoads file of OpenSim for --forces: walk_grf.xml.",
        ),
    ] = None
    cutoff: Annotated[
        str,
        typer.Option(
            "--cutoff",
            metavar="HZ|standard|auto",
            help="Cutoff of the low-pass filter (Hz); standard: 6, for runs as auto; auto: by "
            "residual analysis.",
        ),
    ] = "standard"

    def settings(self, **more: Any) -> Settings:
        """The settings of an analysis with these options.

        Args:
            **more: Other fields of the settings.

        Returns:
            The settings.
        """
        from homodyn.analysis import Settings

        return Settings(
            model=self.model,
            static=path_text(self.static),
            static_forces=path_text(self.static_forces),
            height=self.height,
            mass=self.mass,
            forces=path_text(self.forces),
            external_loads=path_text(self.external_loads),
            cutoff=cutoff_setting(self.cutoff),
            **more,
        )


@dataclass(frozen=True)
class ProcessingOptions:
    """How a recording is read, matched, scaled and fitted."""

    sex: Annotated[
        str | None, typer.Option("--sex", metavar="SEX", help="Sex of the subject: male or female.")
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(
            "--map", metavar="TOML", help="Table of marker labels: model marker = recorded label."
        ),
    ] = None
    scale: Annotated[
        str,
        typer.Option("--scale", metavar="METHOD", help="Scaling: auto, static, motion or none."),
    ] = "auto"
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate/--no-calibrate",
            help="Estimate joint centers and marker offsets together with the poses.",
        ),
    ] = True
    calibrate_from: Annotated[
        list[Path] | None,
        typer.Option(
            "--calibrate-from",
            metavar="TRIAL",
            help="Calibrate from this trial and --static instead of each trial; repeatable.",
        ),
    ] = None
    hip_regression: Annotated[
        str,
        typer.Option(
            "--hip-regression",
            metavar="NAME",
            help="Hip centers in calibration: harrington, harrington-leg, hara or bell.",
        ),
    ] = "harrington"
    symmetric: Annotated[
        bool,
        typer.Option(
            "--symmetric/--no-symmetric",
            help="Left and right segments have the same scale factors.",
        ),
    ] = True
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="Method: inverse uses force plates, physics a simulated body without plates.",
        ),
    ] = "inverse"
    belt: Annotated[
        str,
        typer.Option(
            "--belt",
            metavar="auto|M/S",
            help="Speed of a treadmill: found in the stance feet, or given; 0 is still ground.",
        ),
    ] = "auto"
    up: Annotated[
        str | None,
        typer.Option("--up", metavar="AXIS", help="Vertical axis of the file: y, z, -x, ..."),
    ] = None
    robust: Annotated[
        bool, typer.Option("--robust", help="Robust fit: down-weight outlier markers.")
    ] = False
    first: Annotated[float | None, typer.Option("--from", metavar="S", help="Start time (s).")] = (
        None
    )
    last: Annotated[float | None, typer.Option("--to", metavar="S", help="End time (s).")] = None
    subject: Annotated[
        str, typer.Option("--subject", metavar="NAME", help="Name of the subject in the report.")
    ] = ""

    def keywords(self) -> dict[str, Any]:
        """These options as keyword arguments of `Settings`."""
        return {
            "sex": self.sex,
            "map": path_text(self.labels),
            "scale": self.scale,
            "calibrate": self.calibrate,
            "method": self.method,
            "calibrate_from": tuple(str(path) for path in self.calibrate_from or ()),
            "hip_regression": self.hip_regression,
            "symmetric": self.symmetric,
            "belt": belt_setting(self.belt),
            "up": self.up,
            "robust": self.robust,
            "first": self.first,
            "last": self.last,
            "subject": self.subject,
        }


@dataclass(frozen=True)
class LaboratoryOptions:
    """Files of a laboratory beside the recording: OpenSim setups, EMG, column maps."""

    tasks: Annotated[
        Path | None,
        typer.Option(
            "--tasks",
            metavar="XML",
            help="Marker weights: IKTaskSet of OpenSim, or its setup file: ik_setup.xml.",
        ),
    ] = None
    markerset: Annotated[
        Path | None,
        typer.Option(
            "--markerset",
            metavar="XML",
            help="MarkerSet of OpenSim; adds to and replaces the markers of the model.",
        ),
    ] = None
    scale_setup: Annotated[
        Path | None,
        typer.Option(
            "--scale-setup",
            metavar="XML",
            help="Scale as a setup file of OpenSim's ScaleTool says, with --static.",
        ),
    ] = None
    plug_in_gait: Annotated[
        Path | None,
        typer.Option(
            "--plug-in-gait",
            metavar="VSK",
            help="Measurements of the subject (Vicon): write angles of Plug-in Gait beside ours.",
        ),
    ] = None
    functional: Annotated[
        list[Path] | None,
        typer.Option(
            "--functional",
            metavar="TRIAL",
            help="Functional trial of the subject, for calibration; repeatable.",
        ),
    ] = None
    emg: Annotated[
        Path | None,
        typer.Option("--emg", metavar="FILE", help="EMG in a separate file: .sto, .mot, .csv."),
    ] = None
    emg_channels: Annotated[
        list[str] | None,
        typer.Option(
            "--emg-channels",
            metavar="NAME",
            help="EMG channel, or part of channel names; repeatable.",
        ),
    ] = None
    emg_normalize: Annotated[
        str,
        typer.Option(
            "--emg-normalize", metavar="METHOD", help="EMG envelopes: none, maximum or mvc."
        ),
    ] = "none"
    mvc: Annotated[
        Path | None,
        typer.Option(
            "--mvc", metavar="FILE", help="Maximal voluntary contractions for --emg-normalize mvc."
        ),
    ] = None
    columns: Annotated[
        Path | None,
        typer.Option("--columns", metavar="TOML", help="Columns of a .csv recording."),
    ] = None
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="HZ", help="Frame rate of a .csv recording without time."),
    ] = None
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient", help="Read files with fewer rows than their header states, with a note."
        ),
    ] = False

    def keywords(self) -> dict[str, Any]:
        """These options as keyword arguments of `Settings`."""
        return {
            "tasks": path_text(self.tasks),
            "markerset": path_text(self.markerset),
            "scale_setup": path_text(self.scale_setup),
            "plug_in_gait": path_text(self.plug_in_gait),
            "functional": tuple(str(path) for path in self.functional or ()),
            "emg": path_text(self.emg),
            "emg_channels": tuple(self.emg_channels or ()),
            "emg_normalize": self.emg_normalize,
            "mvc": path_text(self.mvc),
            "columns": path_text(self.columns),
            "rate": self.rate,
            "lenient": self.lenient,
        }


@dataclass(frozen=True)
class MuscleOptions:
    """Whether and how the torques are shared among muscles."""

    muscles: Annotated[
        bool,
        typer.Option(
            "--muscles", help="Muscle forces by static optimization, and joint reactions."
        ),
    ] = False
    muscle_tendon: Annotated[
        str,
        typer.Option("--muscle-tendon", metavar="KIND", help="Tendons: rigid or compliant."),
    ] = "rigid"
    muscle_weights: Annotated[
        str,
        typer.Option("--muscle-weights", metavar="KIND", help="Efforts: equal, or by volume."),
    ] = "equal"
    muscle_power: Annotated[
        float,
        typer.Option("--muscle-power", metavar="P", help="Power of activations in the effort."),
    ] = 2.0
    muscle_reserves: Annotated[
        float,
        typer.Option(
            "--muscle-reserves", metavar="NM", help="Strength of reserve torques; 0: none."
        ),
    ] = 1.0
    muscle_smoothness: Annotated[
        float,
        typer.Option(
            "--muscle-smoothness", metavar="S2", help="Weight of squared rates of activations."
        ),
    ] = 0.0
    muscle_emg: Annotated[
        str,
        typer.Option(
            "--muscle-emg",
            metavar="USE",
            help="EMG: compare (shown beside), informed or tracking (changes activations).",
        ),
    ] = "compare"
    muscle_emg_weight: Annotated[
        float,
        typer.Option("--muscle-emg-weight", metavar="W", help="Weight of deviations from EMG."),
    ] = 10.0
    muscle_emg_delay: Annotated[
        float,
        typer.Option("--muscle-emg-delay", metavar="S", help="Time from EMG to activation (s)."),
    ] = 0.04
    muscle_emg_side: Annotated[
        str,
        typer.Option(
            "--muscle-emg-side",
            metavar="SIDE",
            help="Leg of channels without a side: auto, right or left.",
        ),
    ] = "auto"
    muscle_strength: Annotated[
        str,
        typer.Option(
            "--muscle-strength",
            metavar="LAW",
            help="Forces of scaled muscles: by body mass, by muscle volume, or keep.",
        ),
    ] = "mass"

    def keywords(self) -> dict[str, Any]:
        """These options as keyword arguments of `Settings`.

        Raises:
            HomodynError: An option of muscles is given without ``--muscles``.
        """
        from homodyn.analysis import MuscleSettings

        prefix = "muscle_"
        names = [one.name for one in fields(self) if one.name.startswith(prefix)]
        if not self.muscles:
            given = [
                one.name
                for one in fields(self)
                if one.name in names and getattr(self, one.name) != one.default
            ]
            if given:
                option = given[0].replace("_", "-")
                raise HomodynError(f"--{option} has an effect with --muscles only: pass both")
            return {}
        values = {name.removeprefix(prefix): getattr(self, name) for name in names}
        return {"muscles": MuscleSettings(**values)}


@dataclass(frozen=True)
class RunOptions:
    """Where a batch runs, and whether existing results are replaced."""

    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", help="Processes; one per core by default."),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="Dask scheduler: tcp://host:8786."),
    ] = None
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Analyze trials again whose results exist.")
    ] = False

    def batch_options(self, trials: int) -> BatchOptions:
        """The options of a batch.

        Args:
            trials: Number of trials.

        Returns:
            The options, with one process per trial and at most one per core by default.
        """
        import os

        from homodyn.analysis import BatchOptions

        jobs = self.jobs or min(max(trials, 1), os.cpu_count() or 1)
        return BatchOptions(jobs, self.cluster, self.overwrite)


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace parameters that are option groups by one option per field of the group."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        hint = hints[name]
        if not (isinstance(hint, type) and is_dataclass(hint)):
            parameters.append(parameter.replace(annotation=hint))
            continue
        groups[name] = hint
        kinds = get_type_hints(hint, include_extras=True)
        for field in fields(hint):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=kinds[field.name],
                )
            )

    @wraps(command)
    def expanded(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})
        command(**values)

    keyword_only = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    expanded.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
    expanded.__annotations__ = {p.name: p.annotation for p in keyword_only}
    del expanded.__wrapped__
    return expanded


def belt_setting(text: str) -> float | None:
    """The option ``--belt`` as a speed (m/s), or None where it is to be found.

    Args:
        text: What was passed.

    Returns:
        The setting.

    Raises:
        HomodynError: It is neither a number nor ``auto``.
    """
    if text.strip().lower() == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise HomodynError(
            f"--belt is {text!r}; accepted: auto, or a speed in m/s such as 1.2"
        ) from None


def cutoff_setting(text: str) -> float | str:
    """The option ``--cutoff`` as a frequency (Hz), ``"standard"`` or ``"auto"``.

    Args:
        text: What was passed.

    Returns:
        The setting.

    Raises:
        HomodynError: It is neither a number nor one of these words.
    """
    word = text.strip().lower()
    if word in ("standard", "auto"):
        return word
    try:
        return float(text)
    except ValueError:
        raise HomodynError(
            f"--cutoff is {text!r}; accepted: a frequency (Hz) such as 6, standard or auto"
        ) from None


def path_text(path: Path | None) -> str | None:
    """A path as text; None stays None."""
    return None if path is None else str(path)
