"""Search: the document of an article, the words of texts and queries, and highlights."""
