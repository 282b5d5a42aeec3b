"""A feed whose window has moved on between two polls: the site's sitemap has what came and went."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from documents import page, paragraphs
from origin import document, html
from world import article, entry, feed, good_page, world_in


def test_a_gap_is_filled_from_the_sitemap_that_covers_it(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("news.test")
        for name in ("old", "new"):
            site.serve(f"/{name}", good_page(name))
        url = site.serve("/feed", feed([entry(site, "old")], etag=None), feed([entry(site, "new")], 2, etag=None))
        world.crawl("first", f"feeds={url}")
        missed = datetime.now(UTC)
        site.serve("/missed", html(page("About missed", paragraphs("missed", count=4), published=missed)))
        site.serve("/ancient", good_page("ancient"))
        dates = {"missed": missed, "ancient": missed - timedelta(days=30)}
        rows = "".join(
            f"<url><loc>{site.url(f'/{name}')}</loc><lastmod>{at.isoformat()}</lastmod></url>"
            for name, at in dates.items()
        )
        listed = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        site.serve("/news.xml", document(listed, content_type="application/xml"))
        site.serve("/robots.txt", document(f"Sitemap: {site.url('/news.xml')}\n", content_type="text/plain"))
        world.crawl("second", "now=1", f"feeds={url}", "category=villages")
        with world.wired() as wired:
            (found,) = wired.registry.all()
            lines = wired.registry.journal(found.id)
        assert found.polls.possibly_missed == 1
        (filled,) = [line for line in lines if line["result"] == "gap_filled"]
        assert (filled["documents"], filled["new"]) == (1, 1)
        stored = article(client, site.url("/missed"))
        assert (stored["status"], stored["feed_id"], stored["category"]) == ("success", found.id, "villages")
        assert article(client, site.url("/ancient")) == {}
        assert [event["found"] for event in world.logged("second", "gap_filled")] == [1]
