"""Fields of a feed and of its entries, read from elements of any dialect."""
