"""A network on the page: its numbers as sliders, and runs that follow them.

Runs are made in a thread of their own. While one is going on the newest numbers wait; those in
between are left out, so that the curves follow a slider as fast as the network allows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from homodyn.errors import HomodynError
from homodyn.network import Network, NetworkResult

MAX_SAMPLES = 200_000
"""Steps of a run at most."""


@dataclass(frozen=True, eq=False)
class OpenNetwork:
    """A network that was opened."""

    name: str
    network: Network


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """A run and how long it took, or the sentence why there is none."""

    record: NetworkResult | None
    seconds: float
    error: str = ""


def scalars(network: Network) -> dict[str, float]:
    """The numbers that can be set, by dotted name; vectors and matrices are left out."""
    return {
        name: float(value)
        for name, value in network.parameters.items()
        if isinstance(value, float) and np.isfinite(value)
    }


def slider_range(value: float) -> tuple[float, float, float]:
    """Least, greatest and step of a slider for a number that has a usual value."""
    if value == 0.0:
        return -1.0, 1.0, 0.001
    reach = 3.0 * abs(value)
    low = 0.0 if value > 0 else -reach
    step = 10.0 ** np.floor(np.log10(reach / 500))
    return low, reach if value > 0 else 0.0, float(step)


def columns(record: NetworkResult, name: str) -> dict[str, np.ndarray]:
    """A variable over time as curves (rows,): itself, or each entry of a vector or matrix."""
    values = np.asarray(record[name], dtype=float)
    if values.ndim == 1:
        return {name: values}
    flat = values.reshape(len(values), -1)
    return {f"{name}[{k}]": flat[:, k] for k in range(flat.shape[1])}


def first_choice(network: Network) -> str:
    """A variable that says something at once: the first state, or the first of all."""
    kinds = network.system.kinds
    names = network.names
    states = (n for n in names if kinds[network.system.variables[n]] == "state")
    return next(states, names[0] if names else "")


class LatestRunner:
    """Runs a network again whenever it is asked to, always with the newest numbers."""

    def __init__(self, network: Network, on_run: Callable[[NetworkRun], None]) -> None:
        self.network = network
        self._told = on_run
        self._wanted: tuple[dict[str, float], float, float] | None = None
        self._lock = threading.Lock()
        self._busy = False

    def ask(self, numbers: dict[str, float], until: float, step: float) -> None:
        """Run with these numbers up to an instant (s) in steps (s), now or next."""
        with self._lock:
            self._wanted = (dict(numbers), until, step)
            if self._busy:
                return
            self._busy = True
        threading.Thread(target=self._work, daemon=True, name="network").start()

    def _work(self) -> None:
        while True:
            with self._lock:
                wanted, self._wanted = self._wanted, None
                if wanted is None:
                    self._busy = False
                    return
            self._told(run_network(self.network, *wanted))


def run_network(
    network: Network, numbers: dict[str, float], until: float, step: float
) -> NetworkRun:
    """One run; a refusal becomes its sentence."""
    begun = perf_counter()
    try:
        if until / step > MAX_SAMPLES:
            raise HomodynError(
                f"{until:g} s in steps of {step:g} s are more than {MAX_SAMPLES} steps; use longer "
                "ones, or fewer seconds"
            )
        network.set(numbers)
        record = network.run(until, step)
    except HomodynError as error:
        return NetworkRun(None, perf_counter() - begun, " ".join(str(error).split()))
    return NetworkRun(record, perf_counter() - begun)
