"""Pages that need a browser: the renderer, the browser process, and its guarded proxy."""
