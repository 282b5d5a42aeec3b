import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.http.validators import (
    DAY_SEC,
    MIN_UNMODIFIED,
    Preconditions,
    Reply,
    Trust,
    after,
    may_probe,
    preconditions,
    trust_from,
    trusted,
)

NOW = 1_795_824_000.0  # 2026-11-28 00:00 UTC
DATE, LATER = "Fri, 27 Nov 2026 10:00:00 GMT", "Fri, 27 Nov 2026 11:00:00 GMT"
OLD, NEW = Validators('"1"', DATE), Validators('"2"', LATER)
BELIEVED = Trust(whole_at=NOW - 3600)
WAITED = Trust(whole_at=NOW - DAY_SEC, unmodified=MIN_UNMODIFIED)


def document(stored: Validators, received: Validators, *, changed: bool = True, **fields: Any) -> Reply:
    fields = {"kind": "conditional", "news": changed, **fields}
    return Reply(stored=stored, received=received, changed=changed, **fields)


# --- how to ask ---


@pytest.mark.parametrize(
    ("trust", "stored", "expected", "sent"),
    [
        (Trust(), Validators(), 0.0, Preconditions("plain", Validators())),
        (BELIEVED, OLD, 0.0, Preconditions("conditional", OLD)),
        (BELIEVED, OLD, 99.0, Preconditions("conditional", OLD)),  # no 304 has come yet: nothing to doubt
        (replace(BELIEVED, unmodified=3), OLD, 4.9, Preconditions("conditional", OLD)),
        (replace(BELIEVED, unmodified=3), OLD, 5.0, Preconditions("probe", Validators())),  # by the model
        (replace(BELIEVED, unmodified=3, probed_at=NOW - DAY_SEC + 1), OLD, 99.0, Preconditions("conditional", OLD)),
        (WAITED, OLD, 0.0, Preconditions("probe", Validators())),  # the safety net
        (replace(WAITED, unmodified=2), OLD, 0.0, Preconditions("conditional", OLD)),  # polled once a day
        (replace(WAITED, probed_at=NOW - DAY_SEC + 1), OLD, 0.0, Preconditions("conditional", OLD)),
        (replace(WAITED, etag="deaf", last_modified="deaf"), OLD, 99.0, Preconditions("plain", Validators())),
        (replace(BELIEVED, etag="restless"), OLD, 0.0, Preconditions("conditional", Validators(None, DATE))),
        (replace(BELIEVED, last_modified="future"), OLD, 0.0, Preconditions("conditional", Validators('"1"', None))),
        (replace(BELIEVED, test=True, old=('"0"', None)), OLD, 0.0, Preconditions("test", Validators('"0"', None))),
    ],
)
def test_the_preconditions_of_a_poll(trust: Trust, stored: Validators, expected: float, sent: Preconditions) -> None:
    assert preconditions(trust, stored, now=NOW, expected=expected) == sent


# --- what an answer does to trust ---


@pytest.mark.parametrize(
    ("reply", "marks"),
    [
        (document(Validators(), OLD, first=True), (None, None)),
        (document(OLD, NEW), (None, None)),
        (document(OLD, OLD, changed=False), (None, None)),
        (document(OLD, replace(OLD, last_modified=LATER)), ("constant", None)),
        (document(OLD, replace(NEW, last_modified=DATE)), (None, "constant")),
        (document(OLD, replace(NEW, last_modified=DATE), news=False), (None, None)),  # an edit; dates may be of entries
        (document(Validators(), Validators(None, "Tue, 01 Jan 2041 00:00:00 GMT"), first=True), (None, "future")),
        (document(OLD, Validators('"2"', "Sat, 28 Nov 2026 00:04:59 GMT")), (None, None)),  # a clock that runs ahead
        (document(OLD, Validators('"2"', "Sat, 28 Nov 2026 00:05:01 GMT")), (None, "future")),
        (document(OLD, Validators(None, None)), (None, None)),
    ],
)
def test_a_single_document_shows_which_validators_lie(reply: Reply, marks: tuple[str | None, str | None]) -> None:
    found = after(BELIEVED, reply, NOW)
    assert (found.etag, found.last_modified) == marks
    assert (found.whole_at, found.unmodified) == (NOW, 0)


def test_an_etag_that_is_always_new_is_distrusted_after_three_documents() -> None:
    trust = BELIEVED
    for number in range(3):
        assert trust.etag is None
        trust = after(trust, document(Validators(f'"{number}"'), Validators(f'"{number + 1}"'), changed=False), NOW)
    assert trust.marks == ("etag: restless",)


def test_a_304_shows_that_an_etag_is_stable() -> None:
    trust = BELIEVED
    for number in range(6):
        same = document(Validators(f'"{number}"'), Validators(f'"{number + 1}"'), changed=False)
        trust = after(after(trust, same, NOW), Reply("conditional", OLD, OLD, unmodified=True), NOW)
    assert trust.etag is None


def test_304s_are_counted() -> None:
    trust = after(after(BELIEVED, Reply("conditional", OLD, OLD, unmodified=True), NOW), Reply(
        "conditional", OLD, OLD, unmodified=True), NOW)  # fmt: skip
    assert trust == replace(BELIEVED, unmodified=2)


# --- a server that answers 304 to every request ---


def found_out() -> Trust:
    """What a day of 304s, a probe that brought news, and a test come to for a deaf server."""
    probed = after(WAITED, document(OLD, NEW, kind="probe"), NOW)
    assert (probed.test, probed.old, probed.probed_at) == (True, ('"1"', DATE), NOW)
    assert preconditions(probed, NEW, now=NOW + 300, expected=0.0) == Preconditions("test", OLD)
    return after(probed, Reply("test", NEW, Validators(), unmodified=True), NOW + 300)


def test_a_304_to_a_version_that_was_replaced_is_a_lie() -> None:
    lied = found_out()
    assert lied.marks == ("etag: deaf", "last_modified: deaf")
    assert not lied.test
    assert trusted(NEW, lied) == Validators()


def test_an_honest_server_passes_the_test() -> None:
    probed = after(WAITED, document(OLD, NEW, kind="probe"), NOW)
    passed = after(probed, document(NEW, NEW, kind="test", changed=False), NOW + 300)
    assert passed.marks == ()
    assert not passed.test
    assert preconditions(passed, NEW, now=NOW + 600, expected=0.0) == Preconditions("conditional", NEW)


def test_a_probe_without_news_leaves_no_suspicion() -> None:
    assert not after(WAITED, document(OLD, OLD, kind="probe", changed=False), NOW).test
    assert may_probe(
        replace(after(WAITED, document(OLD, OLD, kind="probe", changed=False), NOW), unmodified=3), NOW + DAY_SEC
    )


def test_a_test_repeats_only_the_validators_that_have_changed() -> None:
    probed = after(WAITED, document(OLD, replace(NEW, last_modified=DATE), kind="probe", news=False), NOW)
    assert probed.old == ('"1"', None)


@pytest.mark.parametrize(("hears", "marks"), [(True, ()), (False, ("etag: deaf", "last_modified: deaf"))])
def test_a_deaf_server_may_prove_itself_once_a_day(hears: bool, marks: tuple[str, ...]) -> None:
    trust, now = found_out(), NOW + 300
    dates = [f"Sat, 28 Nov 2026 {hour:02}:00:00 GMT" for hour in range(24)]
    versions = [Validators(f'"v{number}"', dates[number]) for number in range(6)]
    for old, new in pairwise(versions[:4]):
        trust = after(trust, document(old, new, kind="plain"), now + 3600)
        assert not trust.test  # not within a day
    trust = after(trust, document(versions[3], versions[4], kind="plain"), now + DAY_SEC)
    assert trust.test
    reply = document(versions[4], versions[4], kind="test", changed=False)
    conditional = reply if hears else Reply("test", versions[4], Validators(), unmodified=True)
    assert after(trust, conditional, now + DAY_SEC + 60).marks == marks


def test_constant_and_restless_prove_themselves_by_three_documents() -> None:
    trust = after(BELIEVED, document(OLD, replace(NEW, etag='"1"')), NOW)
    assert trust.marks == ("etag: constant",)
    for number in range(3):
        stored, new = Validators(f'"{number}"'), Validators(f'"{number + 1}"')
        assert trust.etag == "constant"
        trust = after(trust, document(stored, new), NOW)
    assert trust.marks == ()


def test_trust_survives_as_json() -> None:
    trust = after(WAITED, document(OLD, NEW, kind="probe"), NOW)
    assert trust_from(json.loads(json.dumps(trust.to_record()))) == trust
    assert trust_from(None) == trust_from({"colour": "blue"}) == Trust()
    assert Trust().to_record() == {}
