"""Use cases of articles: publication, merges, page records, media files, collections."""
