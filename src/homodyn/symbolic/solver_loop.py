"""Loops of iterative solvers inside a traced function.

Tracing unrolls Python loops, so a solver that iterates until it has converged cannot be written as
one. `iterate` repeats a graph instead: its state is advanced while a flag of the state is not zero,
at most a given number of times. In native code the loop is a loop: a vector of states leaves it
when the flags of all its lanes are zero. A lane whose flag is zero keeps its state, so the bits of
a state do not depend on its neighbors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import casadi as ca

from homodyn.errors import KernelError


@dataclass(frozen=True, eq=False)
class SolverLoop:
    """A loop of a traced function, with what enters and leaves it."""

    body: ca.Function
    """One iteration: state (n,) and constants (m,) to the next state (n,)."""
    maximum: int
    """Largest number of iterations."""
    start: ca.SX
    """The state before the first iteration; its last entry is the flag."""
    constants: ca.SX
    """What the iterations use besides the state."""
    result: ca.SX
    """Symbols of the state after the loop."""

    @property
    def cost(self) -> int:
        """Instructions of two iterations, a guess of what a solver needs."""
        return 2 * int(self.body.n_instructions())

    def repeated_body(self) -> ca.Function:
        """All iterations as one function for the virtual machine, which skips those not needed."""
        n, m = self.start.numel(), self.constants.numel()
        state, constants = ca.SX.sym("state", n), ca.SX.sym("constants", m)
        unchanged = ca.Function("unchanged", [state, constants], [state])
        turn = ca.Function.if_else("turn", self.body, unchanged)
        x, c = ca.MX.sym("state", n), ca.MX.sym("constants", m)
        after = x
        for _ in range(self.maximum):
            after = turn(after[n - 1] != 0, after, c)
        return ca.Function("loop", [x, c], [after])


_LOOPS: ContextVar[list[SolverLoop] | None] = ContextVar("solver_loops", default=None)


@contextmanager
def collect_loops() -> Iterator[list[SolverLoop]]:
    """The loops that `iterate` adds while a function is traced."""
    loops: list[SolverLoop] = []
    token = _LOOPS.set(loops)
    try:
        yield loops
    finally:
        _LOOPS.reset(token)


def iterate(body: ca.Function, start: ca.SX, constants: ca.SX, maximum: int) -> ca.SX:
    """The state after iterations of ``body`` until its flag is zero.

    Args:
        body: One iteration over symbols, from the state (n,) and the constants (m,) to the next
            state (n,). The last entry of the state is the flag: not zero where another iteration is
            needed.
        start: The state before the first iteration, (n,).
        constants: What the iterations use besides the state, (m,).
        maximum: Largest number of iterations.

    Returns:
        The state after the last iteration, (n,).

    Raises:
        KernelError: Another loop is part of the same function, or the loop is in none.
    """
    loops = _LOOPS.get()
    if loops is None:
        raise KernelError("a solver loop can only be part of a function that is being traced")
    if loops:
        raise KernelError("a traced function can have one solver loop; this is its second")
    n, m = start.numel(), constants.numel()
    state, values = ca.SX.sym("state", n), ca.SX.sym("constants", m)
    after = ca.SX(body.call([state, values], True, False)[0])
    # A state that has converged does not change, whatever the other lanes need.
    frozen = ca.if_else(state[n - 1] != 0, ca.densify(after), state)
    wrapped = ca.Function("iteration", [state, values], [frozen])
    result = ca.SX.sym("loop", n)
    loops.append(SolverLoop(wrapped, maximum, ca.densify(start), ca.densify(constants), result))
    return result
