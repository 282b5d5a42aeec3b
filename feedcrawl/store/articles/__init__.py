"""Articles, page records, media files and collections in Redis and on disk."""
