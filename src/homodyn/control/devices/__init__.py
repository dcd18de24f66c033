"""Sensors and motors of robots."""
