"""From the bytes of a page to its article: a ladder of rungs and a scorer."""
