"""Dynamics of a human: batches on one and two threads, single states, derivatives, compile time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from homodyn import dynamics as laws
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, environment, interleave, missing
from homodyn.bench.pinocchio_tree import peer_positions, pinocchio_tree
from homodyn.catalog import heiman
from homodyn.dynamics import PointContact, RollingSphere, edge_contact, flat_foot
from homodyn.model import Model
from homodyn.model.state_function import StateFunction
from homodyn.symbolic import kernel, machine

STATE_COUNT = 10_000


@dataclass(frozen=True)
class DynamicsCase:
    """A law on a batch: our call, Pinocchio's for one state or for a batch, the ratio to reach."""

    name: str
    ours: Callable[..., Any]
    one: Callable[[int], object] | None
    batch: Callable[[int], object] | None
    required: float
    output: int


@benchmark("dynamics")
def dynamics(quick: bool) -> Iterator[BenchmarkRow]:
    """Laws of mechanics on a human of 34 degrees of freedom, against Pinocchio."""
    model = heiman()
    rng = np.random.default_rng(1)
    states = 2000 if quick else STATE_COUNT
    repeat = 3 if quick else 12
    q = model.neutral() + 0.3 * rng.normal(size=(states, model.nq))
    v, a = rng.normal(size=(2, states, model.nv))
    note = missing("pin")
    cases = _cases(model, q, v, a, note)
    for case in cases:
        _compile(case)
        for threads in (1, 2):
            with environment("HOMODYN_THREADS", str(threads)):
                yield _batch_row(case, states, threads, repeat, note)
    for case in cases[:3]:
        yield _latency_row(case, repeat, note)
    yield from _compile_rows(model, quick)


def _cases(
    model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, note: str
) -> list[DynamicsCase]:
    wide = machine().lanes >= 8
    n = model.nv
    calls: dict[str, tuple[Any, Any]] = dict.fromkeys(_NAMES, (None, None))
    if not note:
        calls = _pinocchio(model, q, v, a)
    state = (q, v, a)
    ours: list[tuple[str, Callable[..., Any], float, int]] = [
        ("RNEA", _law(laws.inverse_dynamics, model, state), 15 if wide else 8, n),
        ("ABA", _law(laws.forward_dynamics, model, state), 15 if wide else 8, n),
        ("CRBA", _law(laws.mass_matrix, model, state[:1]), 5, n * n),
        (
            "constrained, both feet",
            _law(laws.constrained_dynamics, model, state, both_feet()),
            10,
            n + 13,
        ),
        (
            "RNEA derivatives",
            _law(laws.inverse_dynamics_derivatives, model, state),
            5,
            3 * n * n,
        ),
        ("marker positions", _law(laws.marker_positions, model, state[:1]), 5, 96),
    ]
    return [DynamicsCase(name, f, *calls[name], required, size) for name, f, required, size in ours]


def _law(
    law: StateFunction[..., Any], model: Model, state: tuple[np.ndarray, ...], *fixed: Any
) -> Callable[[slice | int], object]:
    """A call on some of the states; batches reuse their results' arrays, as Pinocchio does."""
    room: dict[int, Any] = {}

    def call(some: slice | int) -> object:
        parts = [part[some] for part in state]
        if isinstance(some, int):
            return law(model, *parts, *fixed)
        if some.stop not in room:
            room[some.stop] = law(model, *parts, *fixed)
        return law(model, *parts, *fixed, out=room[some.stop])

    return call


_NAMES = (
    "RNEA",
    "ABA",
    "CRBA",
    "constrained, both feet",
    "RNEA derivatives",
    "marker positions",
)


def both_feet() -> Any:
    """Right forefoot and left flat foot: 11 rows, as in the last phase of a step."""
    forefoot = edge_contact(PointContact("HalluxRight"), PointContact("Meta5Right"))
    return forefoot + flat_foot(
        RollingSphere("HeelLeft"), PointContact("HalluxLeft"), PointContact("Meta5Left")
    )


def _pinocchio(
    model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> dict[str, tuple[Any, Any]]:
    """For each law: Pinocchio's call for state k, and for the whole batch where it has one."""
    import pinocchio as pin

    peer = pinocchio_tree(model)
    data = peer.createData()
    there = peer_positions(model, q)
    columns = [np.asfortranarray(part.T) for part in (there, v, a)]
    result = np.zeros_like(columns[1], order="F")
    pool = pin.ModelPool(peer, 2)
    contacts = pin.StdVec_RigidConstraintModel()
    for name in ("FootRight", "FootLeft"):
        frame = peer.frames[peer.getFrameId(name)]
        contacts.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_6D, peer, frame.parentJoint, frame.placement
            )
        )
    contact_data = pin.StdVec_RigidConstraintData()
    contact_data.extend([contact.createData() for contact in contacts])
    pin.initConstraintDynamics(peer, data, contacts, contact_data)
    settings = pin.ProximalSettings(1e-12, 1e-12, 1)
    return {
        "RNEA": (
            lambda k: pin.rnea(peer, data, there[k], v[k], a[k]),
            lambda threads: pin.rneaInParallel(threads, pool, *columns, result),
        ),
        "ABA": (
            lambda k: pin.aba(peer, data, there[k], v[k], a[k]),
            lambda threads: pin.abaInParallel(threads, pool, *columns, result),
        ),
        "CRBA": (lambda k: pin.crba(peer, data, there[k]), None),
        "constrained, both feet": (
            lambda k: pin.constraintDynamics(
                peer, data, there[k], v[k], a[k], contacts, contact_data, settings
            ),
            None,
        ),
        "RNEA derivatives": (
            lambda k: pin.computeRNEADerivatives(peer, data, there[k], v[k], a[k]),
            None,
        ),
        "marker positions": (
            lambda k: pin.framesForwardKinematics(peer, data, there[k]),
            None,
        ),
    }


def _compile(case: DynamicsCase) -> None:
    """Let the kernel of a law be native before it is timed."""
    with environment("HOMODYN_TIER", "compiled"):
        case.ours(slice(0, 8))


def _batch_row(
    case: DynamicsCase, states: int, threads: int, repeat: int, note: str
) -> BenchmarkRow:
    """Microseconds a state; Pinocchio by its faster way, through Python or its own loop."""
    everything = slice(0, states)
    some = min(states, 1000)
    functions: list[Callable[[], object]] = [lambda: case.ours(everything)]
    scale = [1e6 / states]
    if case.one is not None and threads == 1:
        one = case.one
        functions.append(lambda: [one(k) for k in range(some)])
        scale.append(1e6 / some)
    if case.batch is not None:
        batch = case.batch
        functions.append(lambda: batch(threads))
        scale.append(1e6 / states)
    times = interleave(*functions, repeat=repeat, minimum_time=0.02)
    ours, *peers = [time * factor for time, factor in zip(times, scale, strict=True)]
    plural = "s" if threads > 1 else ""
    bound = ""
    if case.output * 8 * states > 32e6 and threads == 1:
        bound = f"writing the results alone: {_writing(case.output, states) * 1e6:.2f} us"
    if threads > 1 and case.batch is None:
        note = note or "Pinocchio has no loop over states of its own for this"
    return BenchmarkRow.from_times(
        f"{case.name}, {threads} thread{plural}",
        ours,
        min(peers) if peers else None,
        unit="us/state",
        required=case.required if peers else None,
        note=", ".join(part for part in (note, bound) if part),
    )


def _writing(output: int, states: int) -> float:
    """Seconds a state to fill an array of the size of the results: no kernel can be faster."""
    room = np.ones((states, output))
    return best_of(lambda: room.fill(1.0), repeat=5) / states


def _latency_row(case: DynamicsCase, repeat: int, note: str) -> BenchmarkRow:
    """Microseconds for one state from Python."""
    functions: list[Callable[[], object]] = [lambda: case.ours(0)]
    if case.one is not None:
        one = case.one
        functions.append(lambda: one(0))
    ours, *peers = interleave(*functions, repeat=repeat, minimum_time=0.02)
    return BenchmarkRow.from_times(
        f"{case.name}, one state from Python",
        ours * 1e6,
        peers[0] * 1e6 if peers else None,
        unit="us",
        required=1 / 1.5 if peers else None,
        note=note,
    )


def _compile_rows(model: Model, quick: bool) -> Iterator[BenchmarkRow]:
    """Seconds to build native code, into an empty cache."""
    state = (model.neutral(), np.zeros(model.nv), np.zeros(model.nv))
    traced: list[tuple[str, Any, float | None]] = [
        ("RNEA", lambda: laws.inverse_dynamics.kernel(model, *state), None),
        ("ABA", lambda: laws.forward_dynamics.kernel(model, *state), None),
    ]
    if not quick:
        traced.append(("100 000 instructions", _long_kernel, 60.0))
    for name, make, allowed in traced:
        with tempfile.TemporaryDirectory() as folder, environment("HOMODYN_CACHE", folder):
            made = make()
            start = perf_counter()
            made.compile()
            seconds = perf_counter() - start
        yield BenchmarkRow(
            f"compile {name}",
            seconds,
            allowed,
            "s",
            allowed / seconds if allowed else None,
            1.0 if allowed else None,
            f"{made.instructions} instructions" + (", allowed time as peer" if allowed else ""),
        )


def _long_kernel() -> Any:
    """A function of 100 000 instructions that all depend on each other."""

    def product(x: ca.SX) -> ca.SX:
        for _ in range(9):
            x = 0.1 * (x @ x) + x
        return x

    return kernel(product, x=(18, 18))
