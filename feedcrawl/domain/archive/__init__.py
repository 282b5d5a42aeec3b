"""Formats and rules of the raw archive: WARC records, CDXJ lines, retention, generation ids."""
