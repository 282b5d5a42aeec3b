import pytest

from feedcrawl.domain.tracking import BY_SITE, EVERYWHERE, NAMESPACES, is_tracking


@pytest.mark.parametrize(
    "name", ["utm_source", "UTM_Medium", "fbclid", "hsCtaTracking", "amp;utm_source", "?utm_source", "_ga", "mc_eid"]
)
def test_trackers(name):
    assert is_tracking(name, "news.example")


@pytest.mark.parametrize(
    "name", ["utm", "utmost", "id", "ref", "source", "cid", "var", "si", "s", "t", "mod", "spmd", ""]
)
def test_parameters_that_may_choose_a_resource(name):
    assert not is_tracking(name, "news.example")


@pytest.mark.parametrize(
    ("name", "host", "follows"),
    [("si", "www.youtube.com", True), ("si", "youtu.be", True), ("si", "notyoutube.com", False), ("s", "x.com", True)],
)
def test_general_parameter_names_are_removed_on_their_sites_only(name, host, follows):
    assert is_tracking(name, host) is follows


def test_names_are_written_as_they_are_compared():
    names = [*EVERYWHERE, *BY_SITE, *NAMESPACES]
    assert [name for name in names if name != name.lower()] == []
    assert all(prefix.endswith("_") for prefix in NAMESPACES)
