"""Feeds to subscribe, and feeds whose subscription was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.domain.subscriptions.access import Header


@dataclass(frozen=True, slots=True)
class SubscriptionSpec:
    """A feed to subscribe: its URL as written, its categories, and further settings.

    `named`: True if an operator named the URL; False for a URL from a list or a page. `fields` are fields of a
    Subscription (a source's name, priority, intervals); they also apply to an existing feed. `request_id` names the
    request that subscribes a new feed. `guessed`: True if the scheme of a complete URL was not given. `login` are the
    request headers of a private feed.
    """

    url: str
    categories: tuple[str, ...] = ()
    title: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    named: bool = False
    guessed: bool = False
    login: tuple[Header, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """A feed that cannot be subscribed, with the reason in a sentence."""

    url: str
    code: str
    detail: str
