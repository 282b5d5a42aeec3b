"""Names and measures that operators see."""
