"""Verification of a solution by resimulation, diagnostics and mesh refinement."""
