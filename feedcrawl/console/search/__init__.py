"""The work of the commands of the search index."""
