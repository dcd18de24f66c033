"""Operators and functions of formulas on symbolic matrices, with their size rules.

Operands have equal sizes, or one of them is 1x1. ``*`` is the matrix product if the inner sizes
agree, and elementwise otherwise; ``.*`` is always elementwise.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from homodyn.dynamics.semidefinite import SemidefiniteFactor
from homodyn.errors import NetworkError

MAX_MATRIX_ENTRIES = 250_000
"""Maximum number of entries of a matrix."""


class SizeError(NetworkError):
    """Sizes that do not match; the caller adds the position in the formula."""


def size_text(a: ca.SX) -> str:
    """The size of a matrix as text: ``2x3``."""
    return f"{a.shape[0]}x{a.shape[1]}"


def broadcast_pair(what: str, a: ca.SX, b: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Make two operands the same size by repeating a 1x1 operand.

    Args:
        what: Name of the operation, for messages.
        a: First operand.
        b: Second operand.

    Returns:
        Both operands.

    Raises:
        SizeError: The sizes differ and none is 1x1.
    """
    if a.shape == b.shape:
        return a, b
    if a.shape == (1, 1):
        return ca.repmat(a, *b.shape), b
    if b.shape == (1, 1):
        return a, ca.repmat(b, *a.shape)
    raise SizeError(f"{what} of {size_text(a)} and {size_text(b)}: expected equal sizes or a 1x1")


def apply_operator(operator: str, a: ca.SX, b: ca.SX) -> ca.SX:
    """Apply a binary operator (van den Kieboom 2014, table 2.1)."""
    if operator == "*" and a.shape[1] == b.shape[0]:
        return ca.densify(ca.mtimes(a, b)) if a.numel() > 1 or b.numel() > 1 else a * b
    x, y = broadcast_pair(f"'{operator}'", a, b)
    match operator:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*" | ".*":
            return x * y
        case "/":
            return x / y
        case "%":
            return ca.fmod(x, y)
        case "^":
            return ca.power(x, y)
        case ">":
            return ca.SX(x > y)
        case "<":
            return ca.SX(x < y)
        case ">=":
            return ca.SX(x >= y)
        case "<=":
            return ca.SX(x <= y)
        case "==":
            return ca.SX(ca.eq(x, y))
        case "!=":
            return ca.SX(ca.ne(x, y))
        case "||":
            return ca.SX(ca.logic_or(ca.ne(x, 0), ca.ne(y, 0)))
        case "&&":
            return ca.SX(ca.logic_and(ca.ne(x, 0), ca.ne(y, 0)))
    raise NetworkError(f"no operator {operator!r}")


def select_elements(condition: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
    """``condition ? a : b``, elementwise."""
    x, y = broadcast_pair("'? :'", a, b)
    c, x = broadcast_pair("'? :'", condition, x)
    y = broadcast_pair("'? :'", c, y)[1]
    return ca.if_else(c, x, y)


def _binary(name: str, function: Callable[[ca.SX, ca.SX], ca.SX]) -> Callable[..., ca.SX]:
    return lambda a, b: function(*broadcast_pair(name, a, b))


def _ternary(name: str, function: Callable[..., ca.SX]) -> Callable[..., ca.SX]:
    def apply(a: ca.SX, b: ca.SX, c: ca.SX) -> ca.SX:
        x, y = broadcast_pair(name, a, b)
        x, z = broadcast_pair(name, x, c)
        return function(x, broadcast_pair(name, y, z)[0], z)

    return apply


def _elements(a: ca.SX) -> list[ca.SX]:
    return [a[k] for k in range(a.numel())]


def _fold(function: Callable[[ca.SX, ca.SX], ca.SX], a: ca.SX) -> ca.SX:
    first, *rest = _elements(a)
    for element in rest:
        first = function(first, element)
    return first


def _norm(a: ca.SX) -> ca.SX:
    return ca.sqrt(_sum(a * a))


def _sum(a: ca.SX) -> ca.SX:
    return ca.sum1(ca.sum2(a))


def _extreme(name: str, function: Callable[[ca.SX, ca.SX], ca.SX]) -> Callable[..., ca.SX]:
    def apply(a: ca.SX, b: ca.SX | None = None) -> ca.SX:
        return _fold(function, a) if b is None else function(*broadcast_pair(name, a, b))

    return apply


def _hypot(a: ca.SX, b: ca.SX | None = None) -> ca.SX:
    if b is None:
        return _norm(a)
    x, y = broadcast_pair("hypot", a, b)
    return ca.sqrt(x * x + y * y)


def _cycle(a: ca.SX, low: ca.SX, high: ca.SX) -> ca.SX:
    width = high - low
    return a - width * ca.floor((a - low) / width)


def _square(name: str, a: ca.SX) -> ca.SX:
    if a.shape[0] != a.shape[1]:
        raise SizeError(f"{name} of {size_text(a)}: expected a square matrix")
    return a


def _solve(a: ca.SX, b: ca.SX) -> ca.SX:
    _square("linsolve", a)
    if a.shape[0] != b.shape[0]:
        raise SizeError(
            f"linsolve of {size_text(a)} and {size_text(b)}: expected equal numbers of rows"
        )
    return ca.densify(ca.solve(a, b))


def _inverse(a: ca.SX) -> ca.SX:
    return _solve(_square("inv", a), ca.SX.eye(a.shape[0]))


def _solve_semidefinite(a: ca.SX, b: ca.SX) -> ca.SX:
    """a⁺ b for a symmetric positive semidefinite matrix a, which may be singular.

    Zero rows are left out: their entries of the result are zero.
    """
    _square("psolve", a)
    if b.shape[0] != a.shape[0]:
        raise SizeError(
            f"psolve of {size_text(a)} and {size_text(b)}: expected equal numbers of rows"
        )
    a = ca.SX(ca.densify(a))
    used = [k for k in range(a.shape[0]) if not a[k, k].is_zero()]
    if not used:
        return ca.SX.zeros(*b.shape)
    factor = SemidefiniteFactor.of(
        [[a[i, j] for j in used[: row + 1]] for row, i in enumerate(used)]
    )
    x = ca.SX.zeros(*b.shape)
    for column in range(b.shape[1]):
        for k, entry in zip(used, factor.solve([b[i, column] for i in used]), strict=True):
            x[k, column] = entry
    return x


def _pseudo_inverse(a: ca.SX) -> ca.SX:
    """Pseudo-inverse (AᵀA)⁺Aᵀ or Aᵀ(AAᵀ)⁺ of a matrix of any rank."""
    if a.shape[0] >= a.shape[1]:
        return _solve_semidefinite(a.T @ a, a.T)
    return _solve_semidefinite(a @ a.T, a).T


def _qr(a: ca.SX) -> ca.SX:
    """Q and R side by side."""
    q, r = ca.qr(a)
    if q.shape[0] != r.shape[0]:
        raise SizeError(f"qr of {size_text(a)}: expected a square matrix")
    return ca.densify(ca.horzcat(q, r))


def _diagonal(a: ca.SX) -> ca.SX:
    """The diagonal of a matrix as a column, or the diagonal matrix of a vector."""
    return ca.densify(ca.diag(a))


def _concatenate_rows(a: ca.SX, b: ca.SX) -> ca.SX:
    if a.shape[1] != b.shape[1]:
        raise SizeError(
            f"vcat of {size_text(a)} and {size_text(b)}: expected equal numbers of columns"
        )
    return ca.vertcat(a, b)


def factorize_ltdl(a: ca.SX, parents: list[int]) -> ca.SX:
    """Sparse factorization LᵀDL of a mass matrix (Featherstone 2008, section 6.5).

    Args:
        a: The mass matrix; its zeros follow from the parents.
        parents: Parent of every row, -1 for none.

    Returns:
        L, unit lower triangular, below the diagonal, and D on it.
    """
    _square("sltdl", a)
    h = ca.SX(ca.densify(a))
    paths: list[list[int]] = []
    for k, parent in enumerate(parents):
        paths.append([k, *(paths[parent] if parent >= 0 else [])])
    for k in range(a.shape[0] - 1, -1, -1):
        for i in paths[k][1:]:
            scale = h[k, i] / h[k, k]
            h[i, paths[i]] -= scale * h[k, paths[i]]
            h[k, i] = scale
    return ca.densify(ca.tril(h))


def _solve_transpose(l: ca.SX, b: ca.SX, parents: list[int]) -> ca.SX:
    """L⁻ᵀ b."""
    x = ca.SX(ca.densify(b))
    for k in range(l.shape[0] - 1, -1, -1):
        i = parents[k]
        while i >= 0:
            x[i, :] -= l[k, i] * x[k, :]
            i = parents[i]
    return x


def _solve_lower(l: ca.SX, b: ca.SX, parents: list[int]) -> ca.SX:
    """L⁻¹ b."""
    x = ca.SX(ca.densify(b))
    for k in range(l.shape[0]):
        i = parents[k]
        while i >= 0:
            x[k, :] -= l[k, i] * x[i, :]
            i = parents[i]
    return x


def _solve_diagonal(l: ca.SX, b: ca.SX) -> ca.SX:
    """D⁻¹ b."""
    return ca.densify(b / ca.repmat(ca.diag(l), 1, b.shape[1]))


def _solve_sparse(a: ca.SX, b: ca.SX, parents: list[int]) -> ca.SX:
    l = factorize_ltdl(a, parents)
    return _solve_lower(l, _solve_diagonal(l, _solve_transpose(l, b, parents)), parents)


def _round(a: ca.SX) -> ca.SX:
    return ca.sign(a) * ca.floor(ca.fabs(a) + 0.5)


_ELEMENTWISE = "sin cos tan asin acos atan sinh cosh tanh sqrt exp erf floor ceil"

FUNCTIONS: dict[str, tuple[tuple[int, ...], Callable[..., ca.SX]]] = {
    **{name: ((1,), getattr(ca, name)) for name in _ELEMENTWISE.split()},
    "atan2": ((2,), _binary("atan2", ca.atan2)),
    "invsqrt": ((1,), lambda a: 1 / ca.sqrt(a)),
    "hypot": ((1, 2), _hypot),
    "sqsum": ((1,), lambda a: _sum(a * a)),
    "min": ((1, 2), _extreme("min", ca.fmin)),
    "max": ((1, 2), _extreme("max", ca.fmax)),
    "exp2": ((1,), lambda a: ca.exp(a * ca.log(2.0))),
    "round": ((1,), _round),
    "abs": ((1,), ca.fabs),
    "pow": ((2,), _binary("pow", ca.power)),
    "ln": ((1,), ca.log),
    "log10": ((1,), lambda a: ca.log(a) / ca.log(10.0)),
    "lerp": ((3,), _ternary("lerp", lambda a, b, c: b + a * (c - b))),
    "sign": ((1,), ca.sign),
    "csign": ((2,), _binary("csign", ca.copysign)),
    "clip": ((3,), _ternary("clip", lambda a, b, c: ca.fmin(ca.fmax(a, b), c))),
    "cycle": ((3,), _ternary("cycle", _cycle)),
    "transpose": ((1,), lambda a: a.T),
    "inv": ((1,), _inverse),
    "pinv": ((1,), _pseudo_inverse),
    "psolve": ((2,), _solve_semidefinite),
    "linsolve": ((2,), _solve),
    "qr": ((1,), _qr),
    "sum": ((1,), _sum),
    "product": ((1,), lambda a: _fold(lambda x, y: x * y, a)),
    "length": ((1,), lambda a: ca.SX(max(a.shape))),
    "vcat": ((2,), _concatenate_rows),
    "hcat": ((2,), lambda a, b: _concatenate_rows(a.T, b.T).T),
    "diag": ((1,), _diagonal),
    "tril": ((1,), lambda a: ca.densify(ca.tril(a))),
    "triu": ((1,), lambda a: ca.densify(ca.triu(a))),
    "csum": ((1,), lambda a: ca.sum1(a)),
    "rsum": ((1,), lambda a: ca.sum2(a)),
    "sltdldinv": ((2,), _solve_diagonal),
}
"""Numbers of arguments and functions by name (van den Kieboom 2014, table 2.2)."""

TREE_FUNCTIONS: dict[str, tuple[int, Callable[..., ca.SX]]] = {
    "slinsolve": (3, _solve_sparse),
    "sltdl": (2, factorize_ltdl),
    "sltdldinvlinvt": (3, lambda l, b, p: _solve_diagonal(l, _solve_transpose(l, b, p))),
    "sltdllinvt": (3, _solve_transpose),
    "sltdllinv": (3, _solve_lower),
}
"""Functions whose last argument is the parent of every row, -1 for none."""

STRUCTURAL_FUNCTIONS = ("zeros", "eye", "size", "index", "lindex", "rand")
"""Functions that need integers or access to the evaluation."""

FUNCTION_NAMES = (*FUNCTIONS, *TREE_FUNCTIONS, *STRUCTURAL_FUNCTIONS)
