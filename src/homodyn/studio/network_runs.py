"""Runs of a network with the parameters of its sliders.

Runs are computed in a separate thread. During a run only the newest parameters are kept, so that
the curves follow a slider as fast as the network allows.
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
"""Largest number of steps of a run."""


@dataclass(frozen=True, eq=False)
class OpenNetwork:
    """An opened network and its name."""

    name: str
    network: Network


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """The result of a run and its computing time (s), or the error."""

    result: NetworkResult | None
    seconds: float
    error: str = ""


def scalar_parameters(network: Network) -> dict[str, float]:
    """The scalar parameters of a network, by dotted name."""
    return {
        name: float(value)
        for name, value in network.parameters.items()
        if isinstance(value, float) and np.isfinite(value)
    }


def slider_range(value: float) -> tuple[float, float, float]:
    """Minimum, maximum and step of a slider for a parameter with a default value."""
    if value == 0.0:
        return -1.0, 1.0, 0.001
    extent = 3.0 * abs(value)
    low = 0.0 if value > 0 else -extent
    step = 10.0 ** np.floor(np.log10(extent / 500))
    return low, extent if value > 0 else 0.0, float(step)


def variable_columns(result: NetworkResult, name: str) -> dict[str, np.ndarray]:
    """A variable over time as curves (rows,), one per entry of a vector or matrix."""
    values = np.asarray(result[name], dtype=float)
    if values.ndim == 1:
        return {name: values}
    flat = values.reshape(len(values), -1)
    return {f"{name}[{k}]": flat[:, k] for k in range(flat.shape[1])}


def default_variable(network: Network) -> str:
    """The variable that is plotted first: the first state, or the first variable."""
    kinds = network.system.kinds
    names = network.names
    states = (n for n in names if kinds[network.system.variables[n]] == "state")
    return next(states, names[0] if names else "")


class LatestRunner:
    """Runs a network on request, always with the newest parameters."""

    def __init__(self, network: Network, on_run: Callable[[NetworkRun], None]) -> None:
        self.network = network
        self._on_run = on_run
        self._request: tuple[dict[str, float], float, float] | None = None
        self._lock = threading.Lock()
        self._busy = False

    @property
    def busy(self) -> bool:
        """Whether a run is in progress."""
        return self._busy

    def request(self, parameters: dict[str, float], until: float, step: float) -> None:
        """Run with these parameters to an end time (s) in steps (s), after the present run."""
        with self._lock:
            self._request = (dict(parameters), until, step)
            if self._busy:
                return
            self._busy = True
        threading.Thread(target=self._work, daemon=True, name="network").start()

    def _work(self) -> None:
        while True:
            with self._lock:
                request, self._request = self._request, None
                if request is None:
                    self._busy = False
                    return
            self._on_run(run_network(self.network, *request))


def run_network(
    network: Network, parameters: dict[str, float], until: float, step: float
) -> NetworkRun:
    """One run with parameters to an end time (s) in steps (s); errors become messages."""
    start = perf_counter()
    try:
        if until / step > MAX_SAMPLES:
            raise HomodynError(
                f"{until:g} s in steps of {step:g} s are more than {MAX_SAMPLES} steps; use longer "
                "steps or a shorter time"
            )
        network.set(parameters)
        result = network.run(until, step)
    except HomodynError as error:
        return NetworkRun(None, perf_counter() - start, " ".join(str(error).split()))
    return NetworkRun(result, perf_counter() - start)
