"""The posts of a thread: as its markup states them, or as readers see them."""
