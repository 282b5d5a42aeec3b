"""Search indexes: SQLite in the data directory, or a server that speaks the API of OpenSearch."""
