"""Commands that run or maintain an installation: crawl, API, relay, tokens, restore."""
