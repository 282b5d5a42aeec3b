"""The real address of an img element: pages that load images late have it in other attributes than src."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

_LATE = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-url")
_LARGER = ("data-orig-file", "data-hi-res-src")
_LATE_SETS = ("data-srcset", "data-lazy-srcset")
_SETS = (*_LATE_SETS, "srcset")
_ADDRESS = re.compile(r"(?!data:)[^\x00-\x20\x7f{}<>\"]*[/.][^\x00-\x20\x7f{}<>\"]*", re.IGNORECASE)
UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that a reference (`&#14;`) can put into an attribute, but that lxml refuses to write."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)[wx]")
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def image_source(image: HtmlElement) -> str | None:
    """The address of the image that a reader sees, as written; None if there is none.

    Attributes that a script copies into src come first, since src is then a placeholder. An image without src has the
    largest image of its srcset, or of the sources of its picture (WHATWG HTML 4.8.3).
    """
    return next(filter(None, _addresses(image)), None)


def is_pixel(image: HtmlElement) -> bool:
    """True if an image is loaded but not visible: 0 or 1 pixel high or wide, or hidden."""
    tiny = any(re.fullmatch(r"\s*[01](?:px)?\s*", image.get(side) or "") for side in ("width", "height"))
    return tiny or bool(_HIDDEN.search(image.get("style") or ""))


def show_images(tree: HtmlElement) -> None:
    """Write the real address of each image into src, before cleaning removes elements and attributes that have it."""
    for image in tree.iter("img"):
        if source := image_source(image):
            image.set("src", source)
    for fallback in tree.iter("noscript"):
        image, shown = fallback.getprevious(), fallback.find(".//img")
        if image is not None and image.tag == "img" and shown is not None and (source := image_source(shown)):
            image.set("src", source)


def _addresses(image: HtmlElement) -> Iterator[str]:
    yield from filter(_is_address, (image.get(name, "") for name in _LATE))
    yield from (_largest(image.get(name, "")) for name in _LATE_SETS)
    source = image.get("src", "")
    yield "" if source.lstrip().lower().startswith("data:") or UNWRITABLE.search(source) else source
    yield from filter(_is_address, (image.get(name, "") for name in _LARGER))
    yield _largest(image.get("srcset", ""))
    picture = image.getparent()
    if picture is not None and picture.tag == "picture":
        yield from (_largest(source.get(name, "")) for source in picture.iter("source") for name in _SETS)


def _is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text.strip()) is not None


def _largest(srcset: str) -> str:
    """The address of the largest candidate of a srcset."""
    sizes: dict[str, float] = {}
    address = ""
    for part in re.sub(r"(\s[\d.]+[wx]),", r"\1 ", srcset).split():
        size = _SIZE.fullmatch(part)
        if size and address in sizes:
            sizes[address] = float(size[1])
        elif _is_address(address := part.strip(",")):
            sizes[address] = 1.0
    return max(sizes, key=sizes.__getitem__, default="")
