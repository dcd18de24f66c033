"""From a Python function over symbolic arrays to a fast callable on numpy arrays."""

from homodyn.symbolic import cache
from homodyn.symbolic.derivatives import (
    SparseKernel,
    hessian,
    hessian_vector,
    jacobian,
    sparse_jacobian,
)
from homodyn.symbolic.fast_path import Assumption, FastPath
from homodyn.symbolic.kernel import Kernel, kernel
from homodyn.symbolic.machine import Machine, machine
from homodyn.symbolic.passes.pipeline import KERNEL_PASSES, SCAN_PASSES, Pass
from homodyn.symbolic.scan import Scan, ScanResult

__all__ = [
    "KERNEL_PASSES",
    "SCAN_PASSES",
    "Assumption",
    "FastPath",
    "Kernel",
    "Machine",
    "Pass",
    "Scan",
    "ScanResult",
    "SparseKernel",
    "cache",
    "hessian",
    "hessian_vector",
    "jacobian",
    "kernel",
    "machine",
    "sparse_jacobian",
]
