"""Polls of feeds as a test describes them: each value is passed by its name, whichever part of the item holds it."""

from dataclasses import fields
from typing import Any

from feedcrawl.items import ComparedEntries, FeedPoll

COMPARED = {each.name for each in fields(ComparedEntries)}


def feed_poll(*positional: Any, **values: Any) -> FeedPoll:
    compared = ComparedEntries(**{name: values.pop(name) for name in COMPARED & values.keys()})
    return FeedPoll(*positional, entries=compared, **values)
