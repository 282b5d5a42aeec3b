"""Candidates for an article's body, and the choice between them."""
