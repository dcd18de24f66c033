"""Dynamics of a human model: batches, single states, derivatives and compile times."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any, cast

import casadi as ca
import numpy as np

from homodyn import dynamics as laws
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, environment, interleave, missing
from homodyn.bench.pinocchio_tree import peer_positions, pinocchio_tree
from homodyn.catalog import heiman
from homodyn.dynamics import PointContact, RollingSphere
from homodyn.dynamics.contacts import edge_contact, flat_foot
from homodyn.foundation import Record
from homodyn.model import Model
from homodyn.model.state_function import StateFunction
from homodyn.symbolic import kernel, machine

STATE_COUNT = 10_000
"""States of a batch."""
CONSTRAINED_DYNAMICS = "constrained dynamics, both feet"


@dataclass(frozen=True)
class DynamicsCase:
    """One algorithm, of Homodyn and of Pinocchio."""

    name: str
    ours: Callable[..., Any]
    """Function of an index or a slice of the states."""
    peer_state: Callable[[int], object] | None
    """Pinocchio's function of the index of a state."""
    peer_batch: Callable[[int], object] | None
    """Pinocchio's function of the number of threads, for all states."""
    required: float
    """Ratio to reach."""
    output: int
    """Numbers per result."""


@benchmark("dynamics")
def dynamics(quick: bool) -> Iterator[BenchmarkRow]:
    """Dynamics algorithms of a 34-dof human model, against Pinocchio."""
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
            CONSTRAINED_DYNAMICS,
            _law(laws.constrained_dynamics, model, state, both_feet()),
            10,
            n + 13,
        ),
        (
            "RNEA derivatives",
            _law(laws.derivatives.inverse_dynamics_derivatives, model, state),
            5,
            3 * n * n,
        ),
        ("marker positions", _law(laws.marker_positions, model, state[:1]), 5, 96),
    ]
    return [DynamicsCase(name, f, *calls[name], required, size) for name, f, required, size in ours]


def _law(
    law: StateFunction[..., Any], model: Model, state: tuple[np.ndarray, ...], *fixed: Any
) -> Callable[[slice | int], object]:
    """A call on some of the states; batches reuse the arrays of their results, as in Pinocchio."""
    outputs: dict[int, Any] = {}

    def call(some: slice | int) -> object:
        parts = [part[some] for part in state]
        if isinstance(some, int):
            return law(model, *parts, *fixed)
        if some.stop not in outputs:
            outputs[some.stop] = _writable(law(model, *parts, *fixed))
        return law(model, *parts, *fixed, out=outputs[some.stop])

    return call


def _writable(result: Any) -> Any:
    """Arrays to write further results of the same shape into; those of records are read-only."""
    if isinstance(result, Record):
        return [np.array(getattr(result, field.name)) for field in fields(cast(Any, result))]
    return result


_NAMES = (
    "RNEA",
    "ABA",
    "CRBA",
    CONSTRAINED_DYNAMICS,
    "RNEA derivatives",
    "marker positions",
)


def both_feet() -> Any:
    """Contacts of the right forefoot and the left flat foot: 11 constraint rows."""
    forefoot = edge_contact(PointContact("HalluxRight"), PointContact("Meta5Right"))
    return forefoot + flat_foot(
        RollingSphere("HeelLeft"), PointContact("HalluxLeft"), PointContact("Meta5Left")
    )


def _pinocchio(
    model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> dict[str, tuple[Any, Any]]:
    """Pinocchio's functions by name: of the index of a state, and of the number of threads."""
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
        CONSTRAINED_DYNAMICS: (
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
    """Compile the kernel before it is timed."""
    with environment("HOMODYN_TIER", "compiled"):
        case.ours(slice(0, 8))


def _batch_row(
    case: DynamicsCase, states: int, threads: int, repeat: int, note: str
) -> BenchmarkRow:
    """Microseconds per state; for Pinocchio the faster of a Python loop and its own loop."""
    everything = slice(0, states)
    some = min(states, 1000)
    functions: list[Callable[[], object]] = [lambda: case.ours(everything)]
    scale = [1e6 / states]
    if case.peer_state is not None and threads == 1:
        peer_state = case.peer_state
        functions.append(lambda: [peer_state(k) for k in range(some)])
        scale.append(1e6 / some)
    if case.peer_batch is not None:
        peer_batch = case.peer_batch
        functions.append(lambda: peer_batch(threads))
        scale.append(1e6 / states)
    times = interleave(*functions, repeat=repeat, minimum_time=0.02)
    ours, *peers = [time * factor for time, factor in zip(times, scale, strict=True)]
    plural = "s" if threads > 1 else ""
    bound = ""
    if case.output * 8 * states > 32e6 and threads == 1:
        bound = f"writing the results takes {_write_time(case.output, states) * 1e6:.2f} us"
    if threads > 1 and case.peer_batch is None:
        note = note or "Pinocchio has no parallel loop for this algorithm"
    return BenchmarkRow.from_times(
        f"{case.name}, {threads} thread{plural}",
        ours,
        min(peers) if peers else None,
        unit="us/state",
        required=case.required if peers else None,
        note=", ".join(part for part in (note, bound) if part),
    )


def _write_time(output: int, states: int) -> float:
    """Seconds per state to fill an array of the size of the results: a lower bound."""
    array = np.ones((states, output))
    return best_of(lambda: array.fill(1.0), repeat=5) / states


def _latency_row(case: DynamicsCase, repeat: int, note: str) -> BenchmarkRow:
    """Microseconds for one state, called from Python."""
    functions: list[Callable[[], object]] = [lambda: case.ours(0)]
    if case.peer_state is not None:
        peer_state = case.peer_state
        functions.append(lambda: peer_state(0))
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
    """Seconds to compile kernels with an empty cache."""
    state = (model.neutral(), np.zeros(model.nv), np.zeros(model.nv))
    traced: list[tuple[str, Any, float | None]] = [
        ("RNEA", lambda: laws.inverse_dynamics.kernel(model, *state), None),
        ("ABA", lambda: laws.forward_dynamics.kernel(model, *state), None),
    ]
    if not quick:
        traced.append(("100 000 instructions", _long_kernel, 60.0))
    for name, trace, limit in traced:
        with tempfile.TemporaryDirectory() as folder, environment("HOMODYN_CACHE", folder):
            program = trace()
            start = perf_counter()
            program.compile()
            seconds = perf_counter() - start
        yield BenchmarkRow(
            f"compile {name}",
            seconds,
            limit,
            "s",
            limit / seconds if limit else None,
            1.0 if limit else None,
            f"{program.instructions} instructions" + ("; the peer is a limit" if limit else ""),
        )


def _long_kernel() -> Any:
    """A kernel of 100 000 dependent instructions."""

    def product(x: ca.SX) -> ca.SX:
        for _ in range(9):
            x = 0.1 * (x @ x) + x
        return x

    return kernel(product, x=(18, 18))
