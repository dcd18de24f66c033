"""From a Python function over symbolic arrays to a fast callable on numpy arrays."""

from homodyn.symbolic import cache
from homodyn.symbolic.derivative import (
    SparseKernel,
    hessian,
    hessian_vector,
    jacobian,
    sparse_jacobian,
)
from homodyn.symbolic.iteration import Course, Iteration
from homodyn.symbolic.kernel import Kernel, kernel
from homodyn.symbolic.machine import Machine, machine
from homodyn.symbolic.shortcut import Assumption, Shortcut

__all__ = [
    "Assumption",
    "Course",
    "Iteration",
    "Kernel",
    "Machine",
    "Shortcut",
    "SparseKernel",
    "cache",
    "hessian",
    "hessian_vector",
    "jacobian",
    "kernel",
    "machine",
    "sparse_jacobian",
]
