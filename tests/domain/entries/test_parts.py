import pytest

from feedcrawl.domain.entries.parts import names_a_place, parts_of

PAGE = "http://a.test/notices"


@pytest.mark.parametrize(
    ("links", "parts"),
    [
        ([f"{PAGE}#a1", f"{PAGE}#a2"], ["a1", "a2"]),
        ([f"{PAGE}#a1", f"{PAGE}/?utm_source=x#a2"], ["a1", "a2"]),
        ([f"{PAGE}#a1", f"{PAGE}#a1"], ["", ""]),
        ([f"{PAGE}#a1", PAGE], ["", ""]),
        ([f"{PAGE}#a1", "http://a.test/other#a2"], ["", ""]),
        ([f"{PAGE}#xtor=RSS-1", f"{PAGE}#xtor=RSS-2"], ["", ""]),
        ([f"{PAGE}#:~:text=one", f"{PAGE}#:~:text=two"], ["", ""]),
        (["http://a.test/#!/one"], ["!/one"]),
        (["http://a.test/#!/a?x=1", "http://a.test/#!/a?x=2"], ["!/a?x=1", "!/a?x=2"]),
        ([None, "#a", "mailto:a@b#c", "http://[#d"], ["", "", "", ""]),
    ],
)
def test_links_to_the_same_page_are_parts_of_it(links: list[str | None], parts: list[str]) -> None:
    found = parts_of(links)
    assert [found.get(link or "", "") for link in links] == parts


@pytest.mark.parametrize(
    ("link", "names"),
    [(f"{PAGE}#a4", True), (f"{PAGE}#!/a?x=1", True), (PAGE, False), (f"{PAGE}#", False), (f"{PAGE}#xtor=1", False)],
)
def test_a_place_on_a_page(link: str, names: bool) -> None:
    assert names_a_place(link) == names
