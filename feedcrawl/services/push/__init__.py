"""Use cases of WebSub."""
