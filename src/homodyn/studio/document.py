"""The open document: bodies with their poses and motions, and recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

import numpy as np

from homodyn.capture import Trial
from homodyn.errors import CaptureError, ModelError
from homodyn.foundation import Record, count_of, record, unknown_name
from homodyn.model import Model
from homodyn.motion import Event, Loads, Motion
from homodyn.report.colors import Rgb
from homodyn.studio.catalog_recipe import CatalogRecipe

COLORS: tuple[Rgb, ...] = (
    (125, 138, 153),
    (214, 146, 40),
    (64, 150, 104),
    (150, 98, 180),
    (52, 156, 164),
    (148, 116, 78),
    (136, 158, 52),
    (84, 88, 98),
)
"""Colors of bodies in the order in which they are opened; red and blue mean right and left."""


@record
class Actor(Record):
    """A body of the scene: a model in a pose, or in a motion with its loads and events."""

    name: str
    model: Model
    q: np.ndarray
    """(nq,): the pose that is shown without a motion, or while ``posed``."""
    motion: Motion | None = None
    loads: Loads | None = None
    events: tuple[Event, ...] = ()
    color: Rgb = COLORS[0]
    shown: bool = True
    posed: bool = False
    """Whether the pose is shown instead of the motion."""
    source: str = ""
    """The file or folder it was read from."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of markers in a fit, by name; 1 for the others."""
    recipe: CatalogRecipe | None = None
    """How the catalog built the model; None for other models."""

    def headline(self) -> str:
        """Name, model, and number of frames."""
        state = "in a pose" if self.motion is None else count_of(len(self.motion.time), "frame")
        return f"Actor {self.name!r}: {self.model.name}, {state}"

    @staticmethod
    def from_motion(motion: Motion, name: str = "") -> Actor:
        """The body of any motion, with the torques, forces and events that the motion carries.

        Args:
            motion: The motion, whatever computed it.
            name: Name in the scene; that of the model when left out.

        Returns:
            A body in its motion.
        """
        loads = Loads.from_motion(motion) if motion.tau.size else None
        label = name or motion.model.name
        return Actor(label, motion.model, motion.q[0], motion, loads, motion.events)

    @property
    def moving(self) -> bool:
        """Whether the motion is shown."""
        return self.motion is not None and not self.posed

    def position(self, time: float) -> np.ndarray:
        """(nq,): the pose that is shown at an instant (s)."""
        if self.motion is None or self.posed:
            return self.q
        return np.asarray(self.motion.q[nearest_frame(self.motion.time, time)])

    def with_pose(self, q: np.ndarray) -> Actor:
        """The body, showing a pose."""
        return replace(self, q=np.array(q, dtype=float), posed=self.motion is not None)

    def resume_motion(self) -> Actor:
        """The body, showing its motion."""
        return replace(self, posed=False)


@record
class StudioDocument(Record):
    """All open bodies and recordings. Documents are immutable: a change returns a new document."""

    actors: tuple[Actor, ...] = ()
    trials: tuple[Trial, ...] = ()
    active: int = 0
    """Index in ``actors`` of the body that is posed, fitted and edited."""

    def headline(self) -> str:
        """Number of bodies and recordings."""
        bodies = count_of(len(self.actors), "body", "bodies")
        return f"StudioDocument: {bodies}, {count_of(len(self.trials), 'recording')}"

    @property
    def actor(self) -> Actor | None:
        """The active body; None if no body is open."""
        return self.actors[self.active] if self.actors else None

    @property
    def trial(self) -> Trial | None:
        """The active recording, which is the last one; None if no recording is open."""
        return self.trials[-1] if self.trials else None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return tuple(actor.name for actor in self.actors)

    def index(self, name: str) -> int:
        """Index of a body by name."""
        if name not in self.names:
            raise ModelError(unknown_name("body of the scene", name, self.names))
        return self.names.index(name)

    def with_actor(self, actor: Actor, *, active: bool = True) -> StudioDocument:
        """The document with one more body, under a unique name and in an unused color."""
        actor = replace(
            actor, name=unique_name(actor.name, self.names), color=unused_color(self.actors)
        )
        index = len(self.actors) if active else self.active
        return replace(self, actors=(*self.actors, actor), active=index)

    def with_trial(self, trial: Trial) -> StudioDocument:
        """The document with one more recording, under a unique name."""
        name = unique_name(trial.name, [known.name for known in self.trials])
        return replace(self, trials=(*self.trials, replace(trial, name=name)))

    def with_actor_at(self, index: int, actor: Actor) -> StudioDocument:
        """The document with the body at an index replaced."""
        actors = (*self.actors[:index], actor, *self.actors[index + 1 :])
        return replace(self, actors=actors)

    def with_active(self, actor: Actor) -> StudioDocument:
        """The document with the active body replaced."""
        return self.with_actor_at(self.active, actor)

    def with_visibility(self, name: str, visible: bool) -> StudioDocument:
        """The document with a body shown or hidden."""
        index = self.index(name)
        return self.with_actor_at(index, replace(self.actors[index], shown=visible))

    def without(self, name: str) -> StudioDocument:
        """The document without the body of a name."""
        index = self.index(name)
        actors = (*self.actors[:index], *self.actors[index + 1 :])
        active = self.active - (self.active > index or self.active == len(actors))
        return replace(self, actors=actors, active=max(active, 0))

    def activate(self, name: str) -> StudioDocument:
        """The document with another active body."""
        return replace(self, active=self.index(name))

    def with_active_trial(self, trial: Trial) -> StudioDocument:
        """The document with the active recording replaced."""
        return replace(self, trials=(*self.trials[:-1], trial))

    def activate_trial(self, name: str) -> StudioDocument:
        """The document with another active recording."""
        names = [trial.name for trial in self.trials]
        if name not in names:
            raise CaptureError(unknown_name("recording", name, names))
        others = [trial for trial in self.trials if trial.name != name]
        return replace(self, trials=(*others, self.trials[names.index(name)]))

    @property
    def time(self) -> np.ndarray:
        """(frames,), s: the instants of playback, those of the longest motion or recording."""
        candidates = [actor.motion.time for actor in self.actors if actor.motion is not None]
        candidates += [trial.time for trial in self.trials if trial.frames]
        if not candidates:
            return np.zeros(1)
        return max(candidates, key=lambda time: (time[-1] - time[0], len(time)))

    @property
    def events(self) -> tuple[Event, ...]:
        """Events of the active body or, if it has none, of the active recording."""
        if self.actor is not None and self.actor.events:
            return self.actor.events
        return () if self.trial is None else self.trial.events


def nearest_frame(time: np.ndarray, instant: float) -> int:
    """Index of the sample nearest to an instant (s); ``time`` (frames,) increases."""
    after = int(np.searchsorted(time, instant))
    if after == 0 or len(time) == 1:
        return 0
    if after >= len(time):
        return len(time) - 1
    return after if time[after] - instant < instant - time[after - 1] else after - 1


def unique_name(name: str, taken: Iterable[str]) -> str:
    """The name, with a number appended if it is taken."""
    names = set(taken)
    if name not in names:
        return name
    return next(f"{name} {k}" for k in range(2, len(names) + 3) if f"{name} {k}" not in names)


def unused_color(actors: Iterable[Actor]) -> Rgb:
    """The first color that no body has; the first color if all are used."""
    taken = {actor.color for actor in actors}
    return next((color for color in COLORS if color not in taken), COLORS[0])
