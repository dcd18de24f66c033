"""Cost of dynamics over the number of bodies: chains and trees of 1 to 200."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from homodyn import dynamics as laws
from homodyn.bench.harness import BenchmarkRow, benchmark, environment, interleave, missing
from homodyn.bench.pinocchio_tree import pinocchio_tree
from homodyn.model import Assembly, Model, joints, rod

STATE_COUNT = 2000
"""States of a batch."""
SIZES = (1, 2, 5, 10, 20, 50, 100, 200)


@benchmark("growth")
def model_size_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Inverse and forward dynamics of chains and trees of 1 to 200 bodies, against Pinocchio."""
    note = missing("pin")
    for shape, branches in (("chain", 1), ("tree", 4)):
        for size in SIZES[: 5 if quick else None]:
            model = tree(size, branches)
            for law, ours, peer in _calls(model, note):
                with environment("HOMODYN_THREADS", "1"):
                    row = _row(f"{law}, {shape} of {size}", ours, peer, quick, note)
                yield row


def tree(size: int, branches: int) -> Model:
    """Rods on hinges about y and x alternately.

    Args:
        size: Number of rods.
        branches: Maximum number of children of a rod.

    Returns:
        The model.
    """
    assembly = Assembly(f"{size} rods, {branches} children per rod")
    for k in range(size):
        parent = "world" if k == 0 else f"rod{(k - 1) // branches}"
        at = (0.0, 0.0, 0.0) if k == 0 else (0.0, 0.0, -0.3)
        body = rod(f"rod{k}", 1.0, (0.0, 0.0, 0.0), (0.05, 0.0, -0.3))
        assembly = assembly.add(body, joints.revolute("yx"[k % 2]), parent, at=at)
    return assembly.model()


def _calls(model: Model, note: str) -> Iterator[tuple[str, Callable[[], object], Any]]:
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, STATE_COUNT, model.nv))
    peers: dict[str, Any] = {"RNEA": None, "ABA": None}
    if not note:
        import pinocchio as pin

        pool = pin.ModelPool(pinocchio_tree(model), 1)
        columns = [np.asfortranarray(part.T) for part in (q, v, a)]
        result = np.zeros_like(columns[0], order="F")
        peers = {
            "RNEA": lambda: pin.rneaInParallel(1, pool, *columns, result),
            "ABA": lambda: pin.abaInParallel(1, pool, *columns, result),
        }
    native = [
        ("RNEA", laws.inverse_dynamics.kernel(model, q, v, a).compile()),
        ("ABA", laws.forward_dynamics.kernel(model, q, v, a).compile()),
    ]
    for law, kernel in native:
        yield law, partial(kernel, q, v, a), peers[law]


def _row(name: str, ours: Callable[[], object], peer: Any, quick: bool, note: str) -> BenchmarkRow:
    repeat = 3 if quick else 6
    times = interleave(ours, *([peer] if peer else []), repeat=repeat, minimum_time=0.01)
    ours_us, *peer_us = [time / STATE_COUNT * 1e6 for time in times]
    return BenchmarkRow.from_times(
        name, ours_us, peer_us[0] if peer_us else None, unit="us/state", required=None, note=note
    )
