"""A WebSub hub at a site of the origin, which can be made to misbehave."""

from __future__ import annotations

import hmac
import threading
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import httpx
from ledger import Request
from origin import Answer, Site


def signature(secret: str, body: bytes, method: str = "sha256") -> str:
    return f"{method}={hmac.new(secret.encode(), body, method).hexdigest()}"


@dataclass
class Hub:
    """Accepts and verifies each request, and delivers on a test's call.

    `forms` are the requests, `refused` the responses to a verification that do not confirm the request.
    """

    site: Site
    verifies: bool = True
    forms: list[dict[str, str]] = field(default_factory=list)
    verified: list[dict[str, str]] = field(default_factory=list)
    left: list[dict[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.url = self.site.serve("/hub", self.answer)

    def answer(self, request: Request) -> Answer:
        form = dict(parse_qsl(request.body.decode()))
        self.forms.append(form)
        if self.verifies:
            threading.Thread(target=self._verify, args=(form,), daemon=True).start()
        return Answer(status=202)

    def _verify(self, form: dict[str, str]) -> None:
        intent = {"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": "c" * 32}
        if "hub.lease_seconds" in form:
            intent["hub.lease_seconds"] = form["hub.lease_seconds"]
        try:
            answer = httpx.get(form["hub.callback"], params=intent, timeout=60)
        except httpx.HTTPError as error:
            self.refused.append(repr(error))
            return
        if answer.status_code == 200 and answer.text == intent["hub.challenge"]:
            (self.verified if form["hub.mode"] == "subscribe" else self.left).append(form)
        else:
            self.refused.append(f"{answer.status_code} {answer.text}")

    def push(self, body: bytes, content_type: str = "application/rss+xml", topic: str | None = None) -> int:
        """Sends content to the newest subscriber, of a topic where there are several; its status."""
        form = next(form for form in reversed(self.verified) if topic in (None, form["hub.topic"]))
        headers = {"Content-Type": content_type, "X-Hub-Signature": signature(form["hub.secret"], body)}
        return httpx.post(form["hub.callback"], content=body, headers=headers, timeout=60).status_code


@dataclass
class CloudServer:
    """An rssCloud server (rsscloud.co, "walkthrough"): verifies by a challenge, within the registration."""

    site: Site
    forms: list[dict[str, str]] = field(default_factory=list)
    verified: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.url = self.site.serve("/pleaseNotify", self.answer)

    @property
    def element(self) -> str:
        """The element by which a feed names the server."""
        parts = urlsplit(self.url)
        return (
            f'<cloud domain="{parts.hostname}" port="{parts.port}" path="{parts.path}" registerProcedure=""'
            ' protocol="http-post"/>'
        )

    def answer(self, request: Request) -> Answer:
        form = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        self.forms.append(form)
        answer = httpx.get(self.callback(form), params={"url": form["url1"], "challenge": "c0ffee"}, timeout=60)
        if answer.status_code == 200 and answer.text == "c0ffee":
            self.verified.append(form)
        result = "true" if form in self.verified else "false"
        return Answer(body=f'<?xml version="1.0"?><notifyResult success="{result}" msg="x"/>'.encode())

    @staticmethod
    def callback(form: dict[str, str]) -> str:
        return f"{form['protocol'].removesuffix('-post')}://{form['domain']}:{form['port']}{form['path']}"

    def notify(self, **fields: str) -> int:
        """Tells the newest subscriber that its feed has changed; its status."""
        form = self.verified[-1]
        return httpx.post(self.callback(form), data={"url": form["url1"], **fields}, timeout=60).status_code
