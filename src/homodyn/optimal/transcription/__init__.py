"""Discretization of a stated problem: decision variables and blocks of costs and rows."""
