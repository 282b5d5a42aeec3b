"""Challenges that a firewall declares in the headers of its response, whatever the status and the body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response
# https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html (with status 202 or 405)
_DECLARED: Final = {
    "cf-mitigated": ("Cloudflare", {"challenge"}),
    "x-amzn-waf-action": ("AWS", {"challenge", "captcha"}),
}
CHALLENGE_HEADERS: Final = tuple(_DECLARED)
"""The headers that `declared_challenge` reads."""


def declared_challenge(headers: Mapping[str, str]) -> str:
    """The detail of a failure whose response is declared a challenge, beginning with the kind of wall; else empty.

    `headers` has the values of CHALLENGE_HEADERS that the response has, by these names.
    """
    for name, (maker, values) in _DECLARED.items():
        if headers.get(name, "").strip().lower() in values:
            return f"challenge: a page of {maker} that requires proof that the client is no robot"
    return ""
