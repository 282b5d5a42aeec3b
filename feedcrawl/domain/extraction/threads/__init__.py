"""The posts of a thread: stated by the markup, or visible to readers."""
