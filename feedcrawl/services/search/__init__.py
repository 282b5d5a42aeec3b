"""The search index: keeps it equal to the stored articles, and searches it."""
