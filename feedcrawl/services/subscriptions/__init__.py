"""Use cases of subscribed feeds: registering, polling, journal, backfill, discovery."""
