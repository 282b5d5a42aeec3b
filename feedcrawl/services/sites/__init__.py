"""Use cases of sites: sitemaps, sources, crawling a site without a feed."""
