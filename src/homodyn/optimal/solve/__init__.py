"""Numerical solution of a nonlinear program by IPOPT or FATROP, and its trajectories."""
