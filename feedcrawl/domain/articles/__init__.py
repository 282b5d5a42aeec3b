"""Rules about stored articles: similarity, canonical URLs, page records, media files, published lists."""
