"""OpenSim as an oracle of models and of their files."""

from support.opensim_process import opensim

__all__ = ["opensim"]
