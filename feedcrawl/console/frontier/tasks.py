"""The work of `scrapy frontier`: tables or JSON of tasks and hosts."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, printable, write, write_json
from feedcrawl.console.stores import on
from feedcrawl.console.tables import write_table
from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.frontier.selection import TaskFilter
from feedcrawl.domain.frontier.statistics import WHY
from feedcrawl.services.frontier import listing
from feedcrawl.services.frontier.listing import host_record, paced_record, statistics_record
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from feedcrawl.domain.frontier.records import TaskRecord
    from feedcrawl.domain.frontier.statistics import FrontierStatistics, HostStatistics, Lateness

ACTIONS = ("figures", "urls", "hosts", "host")
SHOWN: Final = (
    *("status", "kind", "source", "origin", "depth", "priority", "discovered_at", "next_fetch_at", "last_fetched_at"),
    *("fetch_count", "retry_count", "last_error", "url"),
)
"""The fields of a task that the table shows; `--json` has all."""
TIMES: Final = tuple(
    f"{what}_{when}" for what in ("discovered", "fetched", "next_fetch") for when in ("after", "before")
)
PART = 1000
"""Keys that are read together when conditions may exclude most of them."""


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """One of the actions."""
    action, names = (args[0], args[1:]) if args else ("figures", [])
    if action not in ACTIONS or bool(names) != (action == "host"):
        raise UsageError("say `figures`, `urls`, `hosts`, or `host` and its name", print_help=False)
    if action == "figures":
        _show_statistics(wired.frontier.statistics(), as_json=opts.json)
    elif action == "hosts":
        _show_hosts(listing.busiest(wired.frontier, opts.limit), as_json=opts.json)
    elif action == "host":
        hosts = [wired.frontier.host(name.lower()) for name in names]
        _explain(wired, hosts, as_json=opts.json)
        return DONE if all(host.tasks for host in hosts) else UNUSABLE
    else:
        conditions, stores = _conditions(opts), (wired.frontier, wired.articles)
        part = PART if conditions != TaskFilter() else min(PART, opts.limit * 2)
        cursor, found = listing.urls(*stores, conditions, cursor=opts.cursor, limit=opts.limit, part=part)
        _show_urls(cursor, listing.task_records(*stores, found), as_json=opts.json)
    return DONE


def _conditions(opts: Namespace) -> TaskFilter:
    """The conditions of the command line; raises UsageError for a time that cannot be read."""
    values = {each.name: getattr(opts, each.name) for each in fields(TaskFilter)}
    for name in TIMES:
        if values[name] is not None and (at := parse_date(values[name])) is None:
            raise UsageError(f"--{name.replace('_', '-')} {values[name]!r} is no time: write 2026-11-28T12:00:00Z")
        values[name] = at if values[name] is not None else None
    return TaskFilter(**values)


def _show_statistics(statistics: FrontierStatistics, *, as_json: bool) -> None:
    if as_json:
        write_json(statistics_record(statistics))
        return
    by_status = {name: statistics.by("status", name) for name in ("kind", "origin", "source")}
    for name, counts in by_status.items():
        rows = [(*each.split(":", 1), str(number)) for each, number in sorted(counts.items()) if number]
        write_table(("status", name, "tasks"), rows)
    places = [(lane, place, str(number)) for (lane, place), number in statistics.places.items() if number]
    write_table(("lane", "hosts (delayed: tasks)", "number"), places)
    rows = [(lane, str(late.count), *_late(late)) for lane, late in sorted(statistics.lateness.items())]
    write_table(("lane", "taken", "mean s late", "half within s", "99 % within s"), rows)
    write(f"{statistics.leased} leased to workers")


def _late(late: Lateness) -> Sequence[str]:
    mean = late.total_sec / late.count if late.count else 0.0
    return f"{mean:.1f}", *(f"{late.within(share) or 0:g}" for share in (0.5, 0.99))


def _show_hosts(found: Sequence[tuple[str, int]], *, as_json: bool) -> None:
    if as_json:
        write_json([{"host": name, "tasks": number} for name, number in found])
    else:
        write_table(("host", "pending tasks"), [(name, str(number)) for name, number in found])


def _explain(wired: Stores, hosts: Sequence[HostStatistics], *, as_json: bool) -> None:
    config = wired.config
    grace_sec, on_error = config.robots_grace_sec, config.robots_on_error
    waits = [listing.robots_waits(wired.hosts, host.name, grace_sec=grace_sec, on_error=on_error) for host in hosts]
    if as_json:
        write_json([host_record(host, robots) for host, robots in zip(hosts, waits, strict=True)])
        return
    for host, robots in zip(hosts, waits, strict=True):
        paced = [host, *host.scopes.values()]
        rows = [[_text(value) for value in paced_record(each).values()] for each in paced]
        write_table(tuple(paced_record(host)), rows)
        write(f"{host.name}: {WHY[host.waits_for]}")
        for each in robots:
            fault = f"{each['origin']}/robots.txt fails since {each['failing_since']} ({each['reason']})"
            then = f"its pages wait until {each['wait_until']}, then robots.txt counts as: {each['then']} all"
            write(f"{fault}: {then}")


def _show_urls(cursor: int, rows: Sequence[TaskRecord], *, as_json: bool) -> None:
    if as_json:
        write_json({"cursor": cursor, "urls": rows})
        return
    write_table(SHOWN, [[_text(row[name]) for name in SHOWN] for row in rows])
    if cursor:
        write(f"more: --cursor {cursor}")


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else printable(value)
