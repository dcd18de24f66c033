"""Quadratic programs of least squares: their data, a compiled batch solver, and daqp."""
