"""Rules about feed entries: identity, recognition, edits, redaction."""
