"""Whether a recording is sound, and gaps filled where it is not."""
