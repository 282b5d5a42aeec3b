"""An article's metadata: title, authors, dates, site name."""
