"""From markers to coordinates."""
