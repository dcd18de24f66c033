"""Walking in events, cycles and measures."""
