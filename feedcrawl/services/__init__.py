"""Use cases: the spider, the REST route and the command call the same function here."""
