import pytest

from feedcrawl.domain.extraction.walls.headers import declared_challenge

CLOUDFLARE = "challenge: a page of Cloudflare that requires proof that the client is no robot"
AWS = "challenge: a page of AWS that requires proof that the client is no robot"


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        ({}, ""),
        ({"cf-mitigated": "challenge"}, CLOUDFLARE),
        ({"cf-mitigated": " Challenge "}, CLOUDFLARE),
        ({"cf-mitigated": "block"}, ""),
        ({"x-amzn-waf-action": "challenge"}, AWS),
        ({"x-amzn-waf-action": "captcha"}, AWS),
        ({"x-amzn-waf-action": "count"}, ""),
        ({"cf-mitigated": "", "x-amzn-waf-action": "captcha"}, AWS),
    ],
)
def test_a_challenge_is_declared_by_its_maker(headers: dict[str, str], detail: str) -> None:
    assert declared_challenge(headers) == detail
