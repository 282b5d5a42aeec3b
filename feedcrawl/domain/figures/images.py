"""The URL of the image that an img element shows: pages with lazy loading have it in other attributes than src."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml.html import Element

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.markup import Elements

_LATE = (
    "data-src", "data-lazy-src", "data-original", "data-lazy", "data-url", "data-cfsrc", "data-echo", "data-lazyload",
    "data-img-src", "data-original-src", "data-flickity-lazyload", "data-delayed-url",
)  # fmt: skip
_LARGER = ("data-orig-file", "data-hi-res-src")
_LATE_SETS = ("data-srcset", "data-lazy-srcset")
_SETS = (*_LATE_SETS, "srcset")
_OF_SCRIPTS = frozenset({*_LATE, *_LATE_SETS})
_ADDRESS = re.compile(r"(?!data:)[^\x00-\x20\x7f{}<>\"]*[/.][^\x00-\x20\x7f{}<>\"]*", re.IGNORECASE)
UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that a reference (`&#14;`) can put into an attribute, but that lxml refuses to write."""
_SET_IN_SRC = re.compile(r"(?:\s|%20)\d+w,")
_TINY = re.compile(r"\s*[01](?:px)?\s*")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)[wx]")
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
# Placeholders, shown until the image is loaded: a small or blurred copy, or one empty file for all images.
_PLACEHOLDER = re.compile(
    r"b(?<![a-z]b)(?:lur(?:red)?|lank)(?![a-z])|p(?<![a-z]p)laceholder(?![a-z])|s(?<![a-z]s)pacer(?![a-z])"
    r"|l(?<![a-z]l)(?:qip|azy(?:load)?|oading)(?![a-z])|t(?<![a-z]t)ransparent(?![a-z])|1(?<![a-z]1)x1(?![a-z])"
    r"|-\d{1,2}x\d{1,2}\.\w+$|_\d{1,2}x\d{1,2}\.\w+$|\?(?:w|width|h|height)=\d{1,2}(?:&|$)"
    r"|&(?:w|width|h|height)=\d{1,2}(?:&|$)|/(?:w|h)_\d{1,2}[,/]|/fit-in/\d{1,2}x"
)
"""For lower-case addresses. Each alternative begins with a character, which is searched fast; `b(?<![a-z]b)` is
`(?<![a-z])b`.
"""
_AMP = ("amp-img", "amp-anim")
_BETWEEN_CELLS = frozenset({"table", "tbody", "thead", "tfoot", "tr"})


def image_source(image: HtmlElement) -> str | None:
    """The address of the image that a reader sees, as written; None if there is none.

    Attributes that a script copies into src come first, since src is then a placeholder. An image without src, or with
    a placeholder there, has the largest image of its srcset, or of the sources of its picture (WHATWG HTML 4.8.3).
    """
    return next(filter(None, _addresses(image)), None)


def is_pixel(image: HtmlElement) -> bool:
    """True if an image is loaded but not visible: 0 or 1 pixel high or wide, or hidden."""
    tiny = any(_TINY.fullmatch(image.get(side) or "") for side in ("width", "height"))
    return tiny or bool(_HIDDEN.search(image.get("style") or ""))


def show_images(elements: Elements) -> None:
    """Write the real address of each image of a tree into src, and leave each picture once.

    Changes elements and attributes that cleaning removes: a `picture` without img gets an img, an `amp-img` becomes
    one, and the images of a `noscript` take the place of their placeholder, or stand where the noscript stood.
    """
    is_changed = False
    for picture in elements.of("picture"):
        if picture.find(".//img") is None and (source := next(filter(None, _of_picture(picture)), None)):
            picture.append(Element("img", src=source))
            is_changed = True
    for image in elements.of(*_AMP):
        image.tag = "img"
        is_changed = True
    if is_changed:
        elements.read()
    for image in elements.of("img"):
        if (source := image_source(image)) and source != image.get("src"):
            image.set("src", source)
    moved = [fallback for fallback in elements.of("noscript") if _show_fallback(fallback)]
    if moved:
        elements.read()
    drop_repeated_images(elements)


def _move_out_of_tables(elements: Elements) -> None:
    """Put images that stand between the cells of a table before it, as browsers do (WHATWG HTML 13.2.6.1)."""
    is_changed = False
    for table in reversed(elements.of("table")):
        between = [each for each in table.iter("img") if each.getparent().tag in _BETWEEN_CELLS]
        for image in between if table is not elements.tree else ():
            table.addprevious(image)
            is_changed = True
    if is_changed:
        elements.read()


def drop_repeated_images(elements: Elements) -> None:
    """Leave each picture once where copies of it stand side by side: a blurred one, or that of a noscript."""
    _move_out_of_tables(elements)
    is_changed = False
    for image in elements.of("img"):
        if _is_repeated(image):
            image.drop_tree()
            is_changed = True
    if is_changed:
        elements.read()


def _show_fallback(fallback: HtmlElement) -> bool:
    """Show the images of a noscript; True if elements were moved."""
    images = [image for image in fallback.iter("img") if image_source(image) and not is_pixel(image)]
    if not images or next(fallback.iterancestors("head"), None) is not None:
        return False
    twin = _placeholder_beside(fallback)
    if twin is not None:
        twin.set("src", image_source(images[0]))
        return False
    # An image beside that has this address is the same picture: only a picture without another form is put here.
    beside = {image.get("src") for kin in _beside(fallback) for image in kin.iter("img")}
    for image in images:
        source = image_source(image)
        if source not in beside:
            image.set("src", source)
            image.tail = None
            fallback.addprevious(image)
    return True


def _placeholder_beside(fallback: HtmlElement) -> HtmlElement | None:
    """The image that the picture of a noscript replaces: the img before the noscript, or an empty one beside."""
    before = fallback.getprevious()
    if before is not None and before.tag == "img":
        return before
    images = [image for kin in _beside(fallback) for image in kin.iter("img")]
    return images[0] if len(images) == 1 and _is_placeholder(images[0]) else None


def _beside(fallback: HtmlElement) -> list[HtmlElement]:
    return [kin for kin in (fallback.getprevious(), fallback.getnext()) if kin is not None and kin.tag != "noscript"]


def _is_placeholder(image: HtmlElement) -> bool:
    source = image_source(image)
    return source is None or _PLACEHOLDER.search(source.lower()) is not None


def _is_repeated(image: HtmlElement) -> bool:
    """True for a blurred or late copy of the image beside: the same address, or hidden from those who listen."""
    frame = image.getparent()
    box = frame if frame is not None and frame.tag == "picture" else image
    kin, after = box.getprevious(), _image_in(box.getnext())
    before = _image_in(kin)
    source = image.get("src")
    if (
        before is not None
        and kin is not None
        and not (kin.tail or "").strip()
        and source
        and source == before.get("src")
    ):
        return True
    is_alone = before is None and after is None
    return not is_alone and image.get("aria-hidden") == "true" and _is_placeholder(image)


def _image_in(element: HtmlElement | None) -> HtmlElement | None:
    """An img, or that of a picture element."""
    if element is None or element.tag not in {"img", "picture"}:
        return None
    return element if element.tag == "img" else element.find(".//img")


def _addresses(image: HtmlElement) -> Iterator[str]:
    attributes = image.keys()
    if not _OF_SCRIPTS.isdisjoint(attributes):
        yield from (text for name in _LATE if name in attributes and _is_address(text := image.get(name, "")))
        yield from (_largest(image.get(name, "")) for name in _LATE_SETS if name in attributes)
    source = image.get("src", "")
    if _SET_IN_SRC.search(source):
        source = _largest(source.replace("%20", " "))
    is_usable = not (source.lstrip().lower().startswith("data:") or UNWRITABLE.search(source))
    if is_usable and not _PLACEHOLDER.search(source.lower()):
        yield source
    yield from (text for name in _LARGER if name in attributes and _is_address(text := image.get(name, "")))
    if "srcset" in attributes:
        yield _largest(image.get("srcset", ""))
    picture = image.getparent()
    if picture is not None and picture.tag == "picture":
        yield from _of_picture(picture)
    yield source if is_usable else ""


def _of_picture(picture: HtmlElement) -> Iterator[str]:
    return (
        _largest(source.get(name, "")) for source in picture.iter("source") for name in _SETS if name in source.attrib
    )


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
