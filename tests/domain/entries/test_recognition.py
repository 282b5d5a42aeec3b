"""Feeds as publishers run them: what a poll after other polls is taken for."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.entries import recognition
from feedcrawl.domain.entries.identity import identify
from feedcrawl.domain.entries.lineage import IdQuality, KnownEntry
from feedcrawl.domain.entries.recognition import Recognition, recognise
from feedcrawl.domain.models import Enclosure, ParsedEntry

START = datetime(2024, 5, 6, tzinfo=UTC)
SITE = "https://news.example"


@dataclass
class Stored:
    """What a store keeps of one feed."""

    known: dict[str, KnownEntry] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    quality: IdQuality = field(default_factory=IdQuality)
    polls: int = 0

    def poll(self, entries: list[ParsedEntry]) -> Recognition:
        self.polls += 1
        found = identify(entries, feed_id="f")
        aliases = {key: self.aliases[key] for entry in found for key in entry.every_key if key in self.aliases}
        now = START + self.polls * timedelta(hours=2)
        seen = recognise(found, self.known, aliases, quality=self.quality, now=now)
        for sighting in seen.sightings:
            self.known[sighting.uid] = sighting.lineage
            self.aliases.update(dict.fromkeys(sighting.aliases, sighting.uid))
        self.quality = seen.quality
        return seen


def article(number: int, **fields: object) -> ParsedEntry:
    entry = ParsedEntry(
        native_id=f"tag:{number}",
        link=f"{SITE}/2024/{number}",
        title=f"Title {number}",
        summary=f"Summary {number}",
        published=START - timedelta(days=1, minutes=number),
    )
    return replace(entry, **fields)


def articles(*numbers: int, **make) -> list[ParsedEntry]:
    """Articles whose fields are made by functions of their number."""
    return [article(number, **{name: value(number) for name, value in make.items()}) for number in numbers]


def verdicts(seen: Recognition) -> str:
    return " ".join(sighting.verdict for sighting in seen.sightings)


def test_first_poll_and_the_next():
    stored = Stored()
    assert verdicts(stored.poll(articles(2, 1))) == "new new"
    seen = stored.poll([article(3), article(2, summary="Edited"), article(1)])
    assert verdicts(seen) == "new changed known"
    assert [sighting.uid for sighting in seen.sightings] == ["tag:3", "tag:2", "tag:1"]
    assert [sighting.lineage.seen_count for sighting in seen.sightings] == [1, 2, 2]
    assert not seen.migrated


RENAMED = {
    "scheme of the ids": (
        lambda n: {"native_id": f"http://news.example/?p={n}"},
        lambda n: {"native_id": f"{SITE}/?p={n}"},
    ),
    "form of the ids": (lambda n: {}, lambda n: {"native_id": f"urn:x:{n}"}),
    "ids of the headline, which was edited": (
        lambda n: {"native_id": f"Title {n}"},
        lambda n: {"native_id": f"New {n}", "title": f"New {n}"},
    ),
    "a revision mark": (
        lambda n: {"native_id": f"{SITE}/{n}#0"},
        lambda n: {"native_id": f"{SITE}/{n}#1", "title": "New"},
    ),
    "host of links and ids": (
        lambda n: {"native_id": f"{SITE}/{n}", "link": f"{SITE}/{n}"},
        lambda n: {"native_id": f"https://www.other.example/{n}", "link": f"https://www.other.example/{n}"},
    ),
    "scheme of links without ids": (
        lambda n: {"native_id": None, "link": f"http://news.example/{n}"},
        lambda n: {"native_id": None, "link": f"{SITE}/{n}?utm_source=x"},
    ),
    "ids gone": (lambda n: {}, lambda n: {"native_id": None}),
    "ids come": (lambda n: {"native_id": None}, lambda n: {}),
    "links and dates gone": (lambda n: {}, lambda n: {"link": None, "published": None}),
    "ids and links of episodes": (
        lambda n: {"enclosures": (Enclosure(f"https://media.example/{n}.mp3"),)},
        lambda n: {
            "native_id": f"x{n}",
            "link": f"https://cast.example/e/{n}",
            "enclosures": (Enclosure(f"http://media.example/{n}.mp3?utm_source=feed"),),
        },
    ),
    "ids of entries without dates": (
        lambda n: {"published": None},
        lambda n: {"published": None, "native_id": f"x{n}"},
    ),
}


@pytest.mark.parametrize(("before", "after"), RENAMED.values(), ids=RENAMED)
@pytest.mark.parametrize("size", [1, 5])
def test_a_changed_name_makes_no_new_entry(before, after, size):
    stored = Stored()
    numbers = range(1, size + 1)
    first = stored.poll([article(number, **before(number)) for number in numbers])
    assert set(verdicts(first).split()) == {"new"}
    for _ in range(2):
        seen = stored.poll([article(number, **after(number)) for number in numbers])
        assert set(verdicts(seen).split()) <= {"known", "changed"}
        assert [sighting.uid for sighting in seen.sightings] == [sighting.uid for sighting in first.sightings]
    assert len(stored.known) == size


def test_a_feed_rewritten_whole_is_a_migration_and_brings_no_news():
    stored = Stored()
    stored.poll(articles(*range(10)))
    rewritten = articles(
        *range(10),
        native_id="urn:x:{}".format,
        title="<b>Title {}</b> | The News".format,
        published=lambda n: START - timedelta(hours=n),
    )
    seen = stored.poll([article(99, native_id="urn:x:99"), *rewritten])
    assert verdicts(seen) == "new" + " changed" * 10
    assert seen.migrated
    assert seen.quality.rule == "id"
    assert not stored.poll(rewritten).migrated


# The fields of entry n of a document whose ids and links are all new, and the verdicts on eight such entries.
ELSEWHERE = {"native_id": "https://cms.example/?p=9{}".format, "link": "https://cms.example/post/slug-{}".format}
HOUR = timedelta(hours=1)
MIGRATIONS = {
    "same title, date and text": ({}, "known", True),
    "dates in another zone": ({"published": lambda n: article(n).published + 9 * HOUR}, "known", True),
    "another text": ({"summary": "The teaser of {}, rewritten".format}, "changed", True),
    "dates gone, same text": ({"published": lambda n: None}, "known", True),
    "dates gone, another text": ({"published": lambda n: None, "summary": "Rewritten {}".format}, "new", False),
    "the titles of last week": ({"published": lambda n: article(n).published + 7 * 24 * HOUR}, "new", False),
    "titles in capitals, with other marks": ({"title": lambda n: f"“{article(n).title.upper()}”"}, "changed", True),
    "the site's name behind all titles": ({"title": lambda n: f"{article(n).title} | The Site"}, "changed", True),
    "another name behind each title": ({"title": lambda n: f"{article(n).title} | No {n}"}, "new", False),
    "other titles": ({"title": "Another {}".format}, "new", False),
}


@pytest.mark.parametrize(("fields", "expected", "migrated"), MIGRATIONS.values(), ids=MIGRATIONS)
def test_a_feed_of_another_system_is_found_again_by_title_and_date(fields, expected, migrated):
    stored = Stored()
    before = articles(*range(8))
    stored.poll(before)
    seen = stored.poll(articles(*range(8), **ELSEWHERE, **fields))
    assert (set(verdicts(seen).split()), seen.migrated) == ({expected}, migrated)
    if migrated:
        assert [sighting.uid for sighting in seen.sightings] == [f"tag:{number}" for number in range(8)]
        assert [sighting.formerly.uid for sighting in seen.sightings] == [f"tag:{number}" for number in range(8)]
        assert "new" not in verdicts(stored.poll(before)), "the old system can come back"


def test_a_migration_needs_most_of_the_document_and_can_be_forbidden():
    stored = Stored()
    stored.poll(articles(*range(8)))
    moved = articles(*range(8), **ELSEWHERE)
    some = moved[:3] + [article(number, link=f"{SITE}/x/{number}") for number in range(20, 24)]
    assert verdicts(stored.poll(some)).split() == ["new"] * 7
    stored = Stored()
    stored.poll(articles(*range(8)))
    assert verdicts(stored.poll(moved[:2])) == "new new"
    least = Stored()
    least.poll(articles(*range(8)))
    assert verdicts(least.poll(moved[:3])) == "known known known"
    stored.quality = replace(stored.quality, migrates=False)
    for _ in range(3):
        assert verdicts(stored.poll(articles(*range(8)))).split() == ["known"] * 8
    assert verdicts(stored.poll(moved)).split() == ["known"] * 2 + ["new"] * 6


# Fields of entry 3 of eight whose ids and links are all new, beside its other title; its verdict.
RETITLED = {
    "the same date": ({}, "changed"),
    "the same date, another text": ({"summary": "Rewritten"}, "changed"),
    "another minute": ({"published": article(3).published + timedelta(seconds=61)}, "new"),
    "no date": ({"published": None}, "new"),
    "the date of an entry that is found": ({"published": article(4).published}, "new"),
    "a whole hour": ({"published": START - timedelta(hours=30)}, "new"),
}


@pytest.mark.parametrize(("fields", "expected"), RETITLED.values(), ids=RETITLED)
def test_an_entry_of_another_system_with_another_title_is_found_again_by_its_date_alone(fields, expected):
    stored = Stored()
    stored.poll([*articles(*range(8)), article(60, published=START - timedelta(hours=30))])
    moved = articles(*range(8), **ELSEWHERE)
    moved[3] = replace(moved[3], title="Quite another headline", **fields)
    seen = stored.poll(moved)
    assert verdicts(seen).split() == ["known"] * 3 + [expected] + ["known"] * 4
    assert seen.migrated
    assert (seen.sightings[3].uid == "tag:3") is (expected == "changed")


def test_two_entries_of_the_same_date_need_their_titles():
    stored = Stored()
    entries = [article(number, published=START - timedelta(minutes=17)) for number in (10, 11)]
    stored.poll([*articles(*range(8)), *entries])
    moved = [*articles(*range(8), **ELSEWHERE), replace(entries[0], native_id="x", link=f"{SITE}/x", title="Other")]
    assert verdicts(stored.poll(moved)).split() == ["known"] * 8 + ["new"]


def test_news_among_the_entries_of_a_migration_stay_news():
    stored = Stored()
    stored.poll(articles(*range(8)))
    seen = stored.poll([article(50, link=f"{SITE}/50"), *articles(*range(5), **ELSEWHERE)])
    assert verdicts(seen) == "new known known known known known"
    assert seen.sightings[0].formerly is None


def test_a_title_alone_joins_no_two_entries():
    stored = Stored()
    stored.poll([article(1, title="Obituary", published=START)])
    assert verdicts(stored.poll([article(2, title="Obituary", published=START)])) == "new"


def test_places_used_again_every_day_are_news_every_day():
    stored = Stored()
    for day in range(3):
        at = START + timedelta(hours=2 * day + 1)
        seen = stored.poll(
            [
                ParsedEntry(native_id=f"{day}-{city}", link=f"{SITE}/weather/{city}", title=f"Day {day}", published=at)
                for city in range(5)
            ]
        )
        assert verdicts(seen) == "new new new new new"


def test_items_that_share_an_id_are_named_by_their_links():
    stored = Stored()
    same = {"native_id": lambda n: f"{SITE}/feed"}
    assert verdicts(stored.poll(articles(2, 1, **same))) == "new new"
    assert stored.quality.rule == "link"
    seen = stored.poll(articles(3, 2, 1, **same))
    assert verdicts(seen) == "new known known"
    assert seen.sightings[0].lineage.rung == "link"


def test_an_id_shared_by_items_that_are_shown_in_turn_is_distrusted():
    stored = Stored()
    for number in range(4):
        made = article(number, native_id="same", published=START + timedelta(hours=number))
        assert verdicts(stored.poll([made])) == "new"
        assert verdicts(stored.poll([made])) == "known"
    assert stored.quality.rule == "link"
    assert len(stored.known) == 4


def test_other_ids_at_every_poll():
    stored = Stored()
    for poll in range(10):
        seen = stored.poll(articles(*range(poll, poll + 8), native_id=lambda n, poll=poll: f"{n}-{poll}"))
        assert verdicts(seen).count("new") == (8 if poll == 0 else 1)
    assert stored.quality.rule == "link"
    aliases = len(stored.aliases)
    stored.poll(articles(*range(9, 17), native_id="{}-x".format))
    assert len(stored.aliases) == aliases, "ids that change are not kept for ever"


def test_hosts_that_take_turns():
    stored = Stored()
    for poll in range(8):
        host = ("news.example", "www.news.example")[poll % 2]
        seen = stored.poll(
            articles(
                *range(poll, poll + 5),
                native_id=lambda n, host=host: f"http://{host}/{n}",
                link=lambda n, host=host: f"http://{host}/{n}",
                title=lambda n, poll=poll: f"Title {n}, edit {poll // 3}",
            )
        )
        assert verdicts(seen).count("new") == (5 if poll == 0 else 1)


def test_ids_that_differ_in_case_only():
    assert verdicts(Stored().poll([article(1, native_id="Item1"), article(2, native_id="iTEM1")])) == "new new"


def test_two_blogs_of_a_planet_with_the_same_path_are_different_entries():
    stored = Stored()
    stored.poll([article(1, link="https://ann.example/2024/hello")])
    assert verdicts(stored.poll([article(2, link="https://bob.example/2024/hello")])) == "new"


def test_an_untitled_note_is_not_another_untitled_note():
    stored = Stored()
    note = {"title": None, "published": None, "link": "https://notes.example/"}
    stored.poll([article(1, **note)])
    assert verdicts(stored.poll([article(2, **note)])) == "new"


def test_entries_with_no_name_at_all():
    stored = Stored()
    entries = [ParsedEntry(title=title, summary=text) for title, text in [("A", "1"), ("B", "2"), ("B", "3")]]
    assert verdicts(stored.poll(entries)) == "new new new"
    assert verdicts(stored.poll([ParsedEntry(title="C"), *entries])) == "new known known known"


def test_a_new_entry_like_a_present_entry_is_new():
    stored = Stored()
    stored.poll([ParsedEntry(native_id="1", title="Note", published=START)])
    seen = stored.poll([ParsedEntry(native_id=number, title="Note", published=START) for number in "21"])
    assert verdicts(seen) == "new known"


def test_dates_that_move_and_texts_that_count():
    stored = Stored()
    changes = [
        verdicts(
            stored.poll([article(1, updated=START + timedelta(hours=poll), published=START + timedelta(hours=poll))])
        )
        for poll in range(5)
    ]
    assert changes == ["new", "known", "known", "known", "known"]
    counting = [verdicts(stored.poll([article(1, summary=f"seen {poll} times")])) for poll in range(60)]
    assert counting.count("changed") <= 10
    assert "new" not in counting


@pytest.mark.parametrize(
    ("updated", "expected"),
    [
        ({1: 60}, "edited known known known"),
        ({1: 60, 2: 61}, "edited edited known known"),
        ({1: 60, 2: 60}, "edited edited known known"),
        ({1: 60, 2: 61, 3: 62, 4: 63}, "edited edited edited edited"),
        ({1: 60, 2: 60, 3: 60}, "known known known known"),  # one program's date
        ({1: 60, 2: 60, 3: 60, 4: 61}, "known known known edited"),
        ({1: -60 * 24 * 9}, "known known known known"),
    ],
)
def test_dates_of_edits(updated, expected):
    stored = Stored()
    stored.poll(articles(1, 2, 3, 4))
    stamps = {number: START + timedelta(minutes=minutes) for number, minutes in updated.items()}
    assert verdicts(stored.poll(articles(1, 2, 3, 4, updated=stamps.get))) == expected
    assert verdicts(stored.poll(articles(1, 2, 3, 4, updated=stamps.get))) == "known known known known"


def test_an_edit_that_changes_the_text_is_a_change():
    stored = Stored()
    stored.poll(articles(1))
    assert verdicts(stored.poll([article(1, summary="Edited", updated=START)])) == "changed"
    assert verdicts(stored.poll([article(1, summary="Edited", updated=START)])) == "known"


def test_a_feed_that_empties_and_comes_back():
    stored = Stored()
    stored.poll(articles(1, 2, 3))
    assert stored.poll([]).sightings == ()
    assert verdicts(stored.poll(articles(1, 2, 3))) == "known known known"


def test_lineage_that_was_forgotten_is_new_under_its_old_name():
    stored = Stored()
    stored.poll(articles(1))
    stored.known.clear()
    seen = stored.poll(articles(1))
    assert verdicts(seen) == "new"
    assert seen.sightings[0].uid == "tag:1"


def test_news_beyond_the_limit_waits_for_the_next_poll(monkeypatch):
    monkeypatch.setattr(recognition, "MAX_NEW", 3)
    stored = Stored()
    seen = stored.poll(articles(5, 4, 3, 2, 1))
    assert ([sighting.uid for sighting in seen.sightings], seen.over_limit) == (["tag:5", "tag:4", "tag:3"], 2)
    seen = stored.poll(articles(5, 4, 3, 2, 1))
    assert (verdicts(seen), seen.over_limit) == ("known known known new new", 0)


NAMES = st.none() | st.sampled_from(["", "1", "2", "3", f"{SITE}/1", f"{SITE}/2#1", "http://news.example/1"])
ENTRIES = st.builds(
    ParsedEntry,
    native_id=NAMES,
    link=NAMES,
    title=st.sampled_from([None, "A", "B"]),
    summary=st.sampled_from([None, "x", "y"]),
    published=st.sampled_from([None, START, START + timedelta(hours=3)]),
)


@given(st.lists(st.lists(ENTRIES, max_size=5), min_size=1, max_size=4))
def test_whatever_feeds_do(documents):
    stored = Stored()
    for document in documents:
        before = dict(stored.aliases)
        seen = stored.poll(document)
        uids = [sighting.uid for sighting in seen.sightings]
        assert len(set(uids)) == len(uids), "no two entries of a document are one"
        moved = {uid for key, uid in before.items() if stored.aliases[key] != uid and not key.startswith("title:")}
        assert moved <= set(uids), "a key changes hands only before its owner's eyes"
    again = stored.poll(documents[-1])
    assert "new" not in verdicts(again), "what was just seen is known"
