# ruff: noqa: RUF001 -- letters of other scripts
import codecs
import encodings
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.http.encodings import Decoded, codec_of, decode, decode_page, names_no_text

XML = '<?xml version="1.0"{}?><rss><title>{}</title></rss>'
PAGES = {
    "cp1251": "Правительство утвердило план развития железных дорог на ближайшие годы",
    "koi8-u": "Прем'єр-міністр оголосив сьогодні про новий план розвитку залізниць країни",
    "cp1256": "أعلن رئيس الوزراء اليوم عن خطة جديدة لتطوير السكك الحديدية في البلاد خلال السنوات القادمة",
    "iso8859_7": "Ο πρωθυπουργός ανακοίνωσε σήμερα νέο σχέδιο για την ανάπτυξη των σιδηροδρόμων",
    "tis_620": "นายกรัฐมนตรีประกาศแผนใหม่เพื่อพัฒนาระบบรถไฟของประเทศในปีหน้า",
    "hz": "中国的经济增长速度在今年上半年有所放缓,专家表示",
    "iso2022_kr": "한국의 경제 성장률이 올해 상반기에 둔화되었다고 전문가들이 말했다",
    "koi8-r": "Правительство утвердило план развития железных дорог на ближайшие годы",
    "shift_jis": "日本語の新聞記事です。今日の天気は晴れでしょう",
    "euc_jp": "日本語の新聞記事です。今日の天気は晴れでしょう",
    "iso2022_jp": "日本語の新聞記事です。今日の天気は晴れでしょう",
    "gb18030": "中国的经济增长速度在今年上半年有所放缓,专家表示",
    "big5": "台灣的經濟成長率在今年上半年有所放緩,專家表示",
    "euc_kr": "한국의 경제 성장률이 올해 상반기에 둔화되었다고 전문가들이 말했다",
    "cp1252": "L’été à Noël, où êtes-vous — déjà",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy",
    "iso8859_2": "Árvíztűrő tükörfúrógép, őszi időszámítás",
    "cp1254": "İstanbul'da güneşli bir gün, değişik ağaçlar",
    "cp1255": "חדשות היום מכל רחבי הארץ והעולם באתר החדשות המוביל",
}


def encoded(text, codec, declaration=""):
    return XML.format(declaration, text).encode(codec)


@pytest.mark.parametrize(("codec", "text"), PAGES.items())
def test_a_declared_encoding_is_used(codec, text):
    decoded = decode(encoded(text, codec, f' encoding="{codec}"'))
    assert text in decoded.text
    assert decoded.notes == ()
    assert text in decode(encoded(text, codec), f"text/xml; charset={codec}").text


@pytest.mark.parametrize(("codec", "text"), PAGES.items())
def test_an_undeclared_encoding_is_detected(codec, text):
    decoded = decode(encoded(text, codec))
    assert text in decoded.text
    assert "encoding_detected" in decoded.notes


@pytest.mark.parametrize(("codec", "text"), PAGES.items())
def test_utf8_wins_over_a_wrong_declaration(codec, text):
    decoded = decode(encoded(text, "utf-8", f' encoding="{codec}"'), f"text/xml; charset={codec}")
    assert text in decoded.text
    assert (decoded.encoding, decoded.notes) == ("utf-8", ("encoding_lied",))


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("declaration", ["", ' encoding="utf-16"', ' encoding="utf-8"', ' encoding="iso-8859-1"'])
def test_wide_encodings_with_and_without_a_mark(codec, declaration):
    mark = {
        "utf-16-le": codecs.BOM_UTF16_LE,
        "utf-16-be": codecs.BOM_UTF16_BE,
        "utf-32-le": codecs.BOM_UTF32_LE,
        "utf-32-be": codecs.BOM_UTF32_BE,
    }[codec]
    body = encoded("Größe 日本", codec, declaration)
    for document in (body, mark + body):
        decoded = decode(document)
        assert decoded.text == XML.format(declaration, "Größe 日本")
        assert decoded.encoding == codec


def test_a_mark_outranks_every_declaration():
    decoded = decode(codecs.BOM_UTF8 + encoded("Größe", "utf-8", ' encoding="koi8-r"'), "text/xml; charset=latin-1")
    assert decoded.encoding == "utf-8"
    assert decoded.text == XML.format(' encoding="koi8-r"', "Größe")


def test_http_outranks_the_prolog():
    body = encoded("Größe", "cp1252", ' encoding="cp1251"')
    assert decode(body, "application/xml; charset=ISO-8859-1").encoding == "iso-8859-1"
    assert decode(body, "application/xml").encoding == "cp1251"


@pytest.mark.parametrize(
    ("declaration", "content_type", "encoding"),
    [
        ("", None, "utf-8"),
        (' encoding="iso-8859-1"', None, "iso-8859-1"),
        (' encoding="iso-8859-1"', "application/xml; charset=utf-8; charset=utf-8", "utf-8"),
        ("", "text/xml", "us-ascii"),
        (' encoding="gb2312"', None, "gb18030"),
    ],
)
def test_the_encoding_name_of_plain_ascii(declaration, content_type, encoding):
    assert decode(encoded("plain", "ascii", declaration), content_type).encoding == encoding


@pytest.mark.parametrize(
    "label", ["utf-7", "idna", "punycode", "rot13", "bz2_codec", "base64", "zip", "unicode_escape", "x", ""]
)
def test_codecs_that_are_no_encodings_of_text_are_not_used(label):
    assert codec_of(label) is None
    body = encoded("+ADw-script+AD4- Größe", "utf-8", f' encoding="{label}"')
    decoded = decode(body)
    assert decoded.text == body.decode()
    assert ("encoding_unknown" in decoded.notes) == bool(label)


@pytest.mark.parametrize(
    ("label", "codec"),
    [("X-SJIS", "cp932"), ("windows-31j", "cp932"), ("iso-8859-8-i", "iso8859-8"), (" Latin1 ", "iso8859-1")],
)
def test_labels(label, codec):
    assert codec_of(label) == codec


def test_the_supersets_that_are_written_under_older_names():
    assert "“quoted” – €" in decode(encoded("“quoted” – €", "cp1252", ' encoding="iso-8859-1"')).text
    assert "①髙～" in decode(encoded("①髙～", "cp932", ' encoding="shift_jis"')).text
    assert "喆镕" in decode(encoded("喆镕", "gb18030", ' encoding="gb2312"')).text


def test_ebcdic_is_read_by_its_own_declaration():
    decoded = decode(encoded("Hello", "cp500", ' encoding="cp500"'))
    assert decoded.text.endswith("<title>Hello</title></rss>")
    assert decoded.encoding == "cp500"


def test_a_character_cut_off_at_the_end_is_no_other_encoding():
    body = encoded("Größe und Länge", "utf-8")
    decoded = decode(body[: body.index("ä".encode()) + 1])
    assert decoded.encoding == "utf-8"
    assert decoded.text.endswith("und L")


@pytest.mark.parametrize("text", ["<p>The port’s “tide”</p>", "<p>Häfen — Schiffe</p>", "<p>港の潮</p>"])
def test_utf8_within_utf8_is_decoded_twice(text):
    twice = text.encode().decode("latin-1").encode()
    assert decode(twice) == Decoded(text, "utf-8", ("encoded_twice",))


@pytest.mark.parametrize(
    "text",
    [
        "<p>Häfen</p>",
        "<p>The letters Ã¤ show that a page was encoded twice.</p>",  # no control character: may be meant
        "<p>A port â\x80\x99 and a “tide”</p>",  # only a part was encoded twice
    ],
)
def test_other_texts_are_decoded_once(text):
    assert decode(text.encode()).text == text


@pytest.mark.parametrize(
    ("tail", "read"),
    [
        (b"Stra\xdfe f\xfcr", "Straße für"),  # a part that was never encoded in UTF-8
        (b"caf\xe9 \xe0 la", "café à la"),
        (b"It\x92s \x93here\x94 \x96 now\x85", "It’s “here” – now…"),
        (b"mehr \xc3...", "mehr \ufffd..."),  # cut within ü
        (b"don\xe2\x80...", "don\ufffd..."),  # cut within the apostrophe
        (b"don\xe2 [", "don\ufffd ["),
        ("Ещё ".encode() + "раз".encode("cp1251"), "Ещё \ufffd\ufffd\ufffd"),
    ],
)
def test_slips_in_a_text_that_declares_utf8(tail: bytes, read: str) -> None:
    head = "Grüße – äöü: "
    for body, content_type in (
        (b'<?xml version="1.0" encoding="utf-8"?><a>', None),
        (b"<a>", "text/xml; charset=utf-8"),
    ):
        decoded = decode(body + head.encode() + tail + b"</a>", content_type)
        assert decoded.text.endswith(f"{head}{read}</a>")
        assert (decoded.encoding, decoded.notes) == ("utf-8", ("bad_bytes",))


def test_without_a_declaration_a_third_of_slips_is_not_utf8() -> None:
    assert decode("Grüße ".encode() + b"Stra\xdfe").encoding != "utf-8"
    assert decode("Grüße äöü – “x” ".encode() + b"Stra\xdfe").text.endswith("Straße")


def test_a_rare_slip_in_utf8_is_forgiven():
    decoded = decode(encoded("日本語の新聞記事です。今日の天気は晴れでしょう", "utf-8") + b"\xff")
    assert "日本語の新聞記事です" in decoded.text
    assert (decoded.encoding, decoded.notes) == ("utf-8", ("bad_bytes",))


@given(
    st.binary(max_size=200),
    st.sampled_from([None, "text/xml; charset=utf-16", "text/xml; charset=big5", "charset=idna"]),
)
def test_any_bytes_become_text(body, content_type):
    decoded = decode(body, content_type)
    assert isinstance(decoded.text, str)
    assert decoded.encoding


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=100),
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
)
def test_text_with_a_byte_order_mark_survives(text, codec):
    body = text.encode(codec) if codec != "utf-8" else codecs.BOM_UTF8 + text.encode()
    assert decode(body).text == text


# Python has a codec of each of these names; none of them is an encoding of text that a document may be in.
NO_TEXT = [
    "punycode", "idna", "undefined", "rot13", "rot_13", "unicode_escape", "raw_unicode_escape", "utf-7", "utf_7", "U7",
    "bz2", "bz2_codec", "zlib", "hex", "base64", "uu", "quopri", "charmap", "mbcs", "oem", "utf-8-sig", "aliases",
    "x" * 4000, ".", "..", "__init__",
]  # fmt: skip


@pytest.mark.parametrize("label", NO_TEXT)
@pytest.mark.parametrize("place", ["http", "meta", "prolog"])
def test_a_declared_codec_that_is_no_encoding_of_text_is_ignored(label, place):
    declared = {"meta": f'<meta charset="{label}">', "prolog": f'<?xml version="1.0" encoding="{label}"?>'}.get(
        place, ""
    )
    body = (declared + "<p>größe-" + "a" * 900_000).encode()
    content_type = f"text/html; charset={label}" if place == "http" else "text/html"
    decoded = decode_page(body, content_type)
    assert decoded.text == body.decode()
    assert len(label) > 200 or "encoding_unknown" in decoded.notes
    assert len(label) > 200 or names_no_text(body, content_type)


def test_a_page_declares_in_meta_after_http_and_prolog():
    text = '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>日本語の新聞記事です'
    assert decode_page(text.encode("shift_jis")).text == text
    assert decode_page(text.encode("euc_jp"), "text/html; charset=euc-jp").text == text
    assert decode(text.encode("shift_jis"), "text/html; charset=euc-jp").encoding != "shift_jis"
    assert not names_no_text(text.encode("shift_jis"), "text/html")


def test_names_that_strangers_make_up_are_not_remembered():
    before = len(encodings._cache)
    assert {codec_of(f"made-up-{number}") for number in range(100)} == {None}
    assert len(encodings._cache) == before


def test_a_word_without_end_costs_no_detector_a_search_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " Совет гавани проголосовал за новый мост через старый канал. " * 9
    seen: list[bytes] = []

    def detect(sample: bytes) -> dict[str, str]:
        seen.append(sample)
        return {"encoding": "windows-1251"}

    monkeypatch.setattr("chardet.detect", detect)
    assert decode(b"<p>" + b"March" * 9_000 + text.encode("cp1251"), None).encoding == "windows-1251"
    assert max(map(len, re.findall(rb"[A-Za-z]+", seen[0]))) == 64
