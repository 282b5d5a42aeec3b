"""Rules about subscribed feeds: records, health, moves, lists, archives."""
