"""Commands about articles: merges, and the extraction of one response."""
