"""From motion and plates to torques, power and work."""
