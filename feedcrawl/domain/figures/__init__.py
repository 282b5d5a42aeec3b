"""The parts of an article beside its text: images, embedded players, formulas."""
