"""Files on disk: NDJSON, the raw archive and its index."""
