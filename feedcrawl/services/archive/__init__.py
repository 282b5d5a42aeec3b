"""Use cases of the raw archive: capture, replay, fixtures, exports, retention."""
