"""Item pipelines, one step each."""
