"""Pages that need a browser: the renderer, the browser's life, its guarded network."""
