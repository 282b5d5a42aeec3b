"""Removes passwords and tokens from URLs before they are logged, printed or passed to other programs.

The stores that a crawl needs (frontier, subscriptions, records of entries and articles, archive) keep URLs complete.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MASK: Final = "***"

_NAME: Final = r"[\w.~\[\]-]{0,64}"
# `author` is no secret, `authorization` is.
_ANYWHERE: Final = (
    r"token|secret|passw|passphrase|signature|credential|sess(?:ion|id)|apikey|accesskey|privatekey|jwt|hmac|oauth"
    r"|auth(?!or(?!i[sz]))"
)
_WORD: Final = r"key|sig|sid|pass|pwd|pw|otp|ticket"
_SECRET: Final = rf"(?:{_NAME}?(?:{_ANYWHERE}){_NAME}|(?:{_NAME}?[_.-])?(?:{_WORD})(?:[_.\-\[]{_NAME})?)"


@cache
def _patterns(ends: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of user info and of secret parameters, in a text where one of the characters `ends` ends a URL.

    Slashes may be escaped as in JSON, and a URL may be percent-encoded within another. User info ends with the last `@`
    before the path (WHATWG URL Standard, authority state); a port that is not a number is a truncated password.
    """
    slash = r"(?:\\?/|%2F)"
    part = rf"[^\s/?#{ends}]"
    scheme = rf"(?:https?:{slash}?|[a-z][a-z0-9+.-]*(?::|%3A){slash}{slash})"
    userinfo = (
        rf"({scheme}|//)(?:([^\s/?#@:%{ends}]*)(:|%3A))?(?:(?!%2F){part})*(@|%40)(?!{slash})"
        rf"|({scheme})([^\s/?#@:\[%{ends}]+):(?!\d*(?:[/?#\s{ends}\\]|$))(?:{part})+"
    )
    parameter = rf"((?:[?&;#]|%3F|%26|%3B|%23)(?:amp;)?{_SECRET}(?:=|%3D))(?:(?!%26|%23)[^&#\s{ends}])+"
    return re.compile(userinfo, re.IGNORECASE), re.compile(parameter, re.IGNORECASE)


_AROUND_URLS: Final = r"\"'<>\\`"
# Without `@` and `%`, user info is a name before a colon that no port follows, and the name of a secret has a word of
# these: two cheap tests that most texts with a URL fail.
_USER: Final = re.compile(r"[/:][^\s/?#@:\[%]+:(?!\d*(?:[/?#\s]|$))")
_WORDS: Final = re.compile(r"token|secret|pass|sig|credential|sess|key|jwt|hmac|auth|sid|pw|otp|ticket")
_ONE_URL: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//\S*\Z", re.IGNORECASE)
_NO_SCHEME: Final = re.compile(r"(?!https?:)([\w.~%+-]+):[^\s/@]+(@[\w.\[\]:-]+(?:[/?#]\S*)?)\Z")


def without_secrets(text: str) -> str:
    """The text with `***` in place of the user info and the secret parameters of every URL in it.

    `http://ann:pw@a.test/feed?token=x&page=2` becomes `http://ann:***@a.test/feed?token=***&page=2`. The time is linear
    in the length of the text.
    """
    # Every value of an event, a log line and a journal line comes here: most can be seen to have no secret.
    lower = text.lower()
    has_slash, at, encoded = "/" in text or "http" in lower, "@" in text, "%" in text
    if not (at or encoded):
        user = has_slash and text.count(":") > 1 and _USER.search(text)
        if not user and ("=" not in text or (text.isascii() and not _WORDS.search(lower))):
            return text
    userinfo, parameter = _patterns("" if _ONE_URL.match(text) else _AROUND_URLS)
    if (has_slash or encoded) and (at or encoded or text.count(":") > 1):
        text = userinfo.sub(_masked, text)
    if at and (bare := _NO_SCHEME.match(text)):
        text = f"{bare[1]}:{MASK}{bare[2]}"
    return parameter.sub(rf"\1{MASK}", text) if "=" in text or "%" in text else text


def record_without_secrets(record: Mapping[str, object]) -> dict[str, object]:
    """A JSON object with `without_secrets` applied to every text in it; other values unchanged."""
    return {name: value_without_secrets(value) for name, value in record.items()}


def value_without_secrets(value: object) -> object:
    """A JSON value as `record_without_secrets` returns it."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return record_without_secrets(value)
    if isinstance(value, (list, tuple)):
        return [value_without_secrets(each) for each in value]
    return value


def _masked(found: re.Match[str]) -> str:
    scheme, user, colon, at, scheme_of_host, host = found.groups()
    if host is not None:
        return f"{scheme_of_host}{host}:{MASK}"
    if found[0] == f"{scheme}{at}":  # empty user info
        return found[0]
    return f"{scheme}{user}{colon}{MASK}{at}" if colon and user else f"{scheme}{MASK}{at}"
