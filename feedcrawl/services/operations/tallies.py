"""What a poll or an article adds to the series that the dashboard shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.dates import moment
from feedcrawl.domain.operations.tallies import Tally
from feedcrawl.services.subscriptions.polling import interval_ratio

if TYPE_CHECKING:
    from feedcrawl.items import Article, FeedPoll

STALE_RATIO = 2.0
"""Later than so many times the interval that was chosen, a poll is no longer in time."""


def of_poll(poll: FeedPoll) -> Tally:
    """A poll, or a delivery of its feed's hub, which is neither early nor late."""
    if poll.pushed:
        result = poll.result if poll.failed else "read"
        said = {f"push:{result}": 1, "new": len(poll.new)}
    else:
        saved = poll.feed.polls.body_bytes if poll.result == "not_modified" else 0
        stale = (interval_ratio(poll) or 0.0) > STALE_RATIO
        said = {f"poll:{poll.result}": 1, "new": len(poll.new), "saved": saved, "stale": int(stale)}
        said["late"] = round(_late_sec(poll))
    return Tally(
        {name: number for name, number in said.items() if number},
        poll.feed.id if poll.new else None,
        poll.lease.task.host if poll.failed else None,
    )


def of_article(item: Article) -> Tally:
    """A page that has ended."""
    if item.status == "success":
        return Tally({f"article:{'merged' if item.merged_into else 'stored'}": 1})
    return Tally({f"article:{item.reason}": 1}, failed_host=item.lease.task.host)


def _late_sec(poll: FeedPoll) -> float:
    """Between the time for which a poll was set and its request; 0 for one that came sooner, or is a feed's first."""
    due = moment(poll.feed.polls.next_at)
    return max(0.0, (poll.at - due).total_seconds() - (poll.duration_sec or 0.0)) if due else 0.0
