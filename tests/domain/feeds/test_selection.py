import pytest

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.feeds.selection import read_rules, selected
from feedcrawl.domain.models import ParsedEntry, ParsedFeed, Person

FERRY = ParsedEntry(
    title="The Ferry sails", link="http://a.test/local/1", authors=(Person("Ada"),), categories=("Sea",)
)
SPORT = ParsedEntry(title="Cup final", link="http://a.test/sport/2", authors=(Person("Bo"), Person("Cy")))
BARE = ParsedEntry()


@pytest.mark.parametrize(
    ("keep_rules", "drop_rules", "expected"),
    [
        ("", "", (FERRY, SPORT, BARE)),
        ("title=ferry", "", (FERRY,)),
        ("title=ferry\n\n  author = ^c ", "", (FERRY, SPORT)),
        ("category=^sea$", "", (FERRY,)),
        ("url=/sport/", "", (SPORT,)),
        ("", "title=ferry|cup", (BARE,)),
        ("", "author=bo", (FERRY, BARE)),
        ("title=.", "url=/sport/", (FERRY,)),
        ("url=nowhere", "", ()),
    ],
)
def test_rules_keep_and_drop(keep_rules: str, drop_rules: str, expected: tuple[ParsedEntry, ...]) -> None:
    found = selected(ParsedFeed("rss2.0", entries=(FERRY, SPORT, BARE)), keep_rules, drop_rules)
    assert found.entries == expected
    assert found.notes == (() if len(expected) == 3 else ("entries_dropped",))


@pytest.mark.parametrize("text", ["ferry", "body=x", "title=", "=x", "title=(", "title=" + "x" * 500, "url=x\n" * 51])
def test_bad_rules_are_refused(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_rules(text)
    assert caught.value.code == "bad_rule"
