"""The frontier's statistics and the state of a host, as the API and `--json` return them."""

from typing import Annotated, Literal, TypedDict

from feedcrawl.domain.schemas import About, Count, Time


class TaskCount(TypedDict):
    """A number of tasks that share these values."""

    status: Annotated[str, About("pending, fetched, dead, …: pending tasks now, ended tasks since the beginning")]
    kind: Annotated[str, About("feed, article, sitemap, …")]
    origin: Annotated[str, About("feed, sitemap, spider, manual or queue")]
    source: Annotated[str, About("Name of the source; empty without a source")]
    tasks: Annotated[Count, About("Number of tasks")]


class PlaceCount(TypedDict):
    """A number of hosts or tasks in a place of a lane."""

    lane: Annotated[str, About("poll or page")]
    place: Annotated[str, About("ready, waiting and blocked count hosts; delayed counts tasks")]
    number: Annotated[Count, About("Number of hosts or tasks")]


class LatenessRecord(TypedDict):
    """How long the tasks of a lane had been due when they were taken."""

    buckets: Annotated[
        list[list[float | None]],
        About("Pairs of an upper bound in seconds (null: no bound) and the number of tasks up to that bound"),
    ]
    count: Annotated[Count, About("Number of tasks")]
    total_sec: Annotated[float, About("Sum of all delays")]


class FrontierRecord(TypedDict):
    """Numbers of tasks by status, kind, origin and source; the places of their hosts; how late tasks were taken."""

    tasks: list[TaskCount]
    leased: Annotated[Count, About("Pending tasks that a worker holds")]
    places: list[PlaceCount]
    lateness: Annotated[dict[str, LatenessRecord], About("By lane")]


class DueFrontierRecord(FrontierRecord):
    """The statistics with the number of polls that are due."""

    due: Annotated[Count, About("Polls that are due, leased polls included")]


class PacedRecord(TypedDict):
    """Pace and circuit of a host or registered domain."""

    name: Annotated[str, About("Host or registered domain")]
    tasks: Annotated[int | None, About("Pending tasks; null for a domain")]
    busy: Annotated[Count, About("Requests that are open")]
    concurrency: Annotated[Count, About("Requests that may be open at a time")]
    delay_sec: Annotated[float, About("Delay in force between two requests")]
    doublings: Annotated[Count, About("Times that 429 doubled the configured delay")]
    circuit: Annotated[str, About("closed, open or probing")]
    failures: Annotated[Count, About("Failures in a row")]
    wait_sec: Annotated[float, About("Seconds until the next request is allowed")]
    waits_for: Annotated[str | None, About("Reason code for which no request is allowed now")]


class RobotsWaitRecord(TypedDict):
    """A robots.txt that fails, and what that means for the pages of its origin."""

    origin: Annotated[str, About("Scheme, host and port")]
    reason: Annotated[str, About("Reason code of the last failure")]
    failing_since: Annotated[Time, About("Time of the first failure in a row")]
    wait_until: Annotated[
        Time,
        About("Until then the pages wait, and robots.txt is requested each minute; then FEEDCRAWL_ROBOTS_ON_ERROR"),
    ]
    then: Annotated[Literal["allow", "disallow"], About("FEEDCRAWL_ROBOTS_ON_ERROR: the access after wait_until")]


class PacedHostRecord(PacedRecord):
    """Pace and circuit of a host, and of its registered domain."""

    robots: Annotated[list[RobotsWaitRecord], About("Its robots.txt that fail, for which pages wait")]
    domain: Annotated[PacedRecord | None, About("Its registered domain; null if the host has none")]


class HostRecord(PacedHostRecord):
    """The same with the reason in words."""

    because: Annotated[str, About("`waits_for` in words")]
