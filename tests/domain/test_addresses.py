from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.addresses import (
    denied_ports,
    dial_refusal,
    is_allowed,
    is_literal,
    is_name_refused,
    is_public,
    parse_networks,
    port_allowed,
    url_refusal,
)


def listed(block: str) -> list[str]:
    return block.split()


# Written from the IANA registries, first and last address of each block and the public neighbours of each.
PRIVATE_V4 = listed("""
0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.0 127.0.0.1
127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 172.16.0.0 172.17.0.1
172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.9 192.0.0.170 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.0
192.88.99.1 192.88.99.255 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255
203.0.113.0 203.0.113.255 224.0.0.0 224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255
""")
PUBLIC_V4 = listed("""
1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.31.196.1
192.52.193.1 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.48.1 198.17.255.255 198.20.0.0
198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
""")
PRIVATE_V6 = listed("""
:: ::1 ::2 ::ffff 100:: 100::1 100:0:0:1::1 64:ff9b:1:: 64:ff9b:1::808:808 64:ff9b:1:ffff:ffff:ffff:ffff:ffff
64:ff9b:2::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:1::1 2001:1::2 2001:2::1 2001:10::1 2001:1f:ffff::1 2001:20::1
2001:30::1 2001:1ff:ffff::1 2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3ffe::1 3fff:: 3fff:fff:ffff::1 4000::
5f00:: 5f00::1 8000::1 e000::1 fbff::1 fc00:: fd00:ec2::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00::1 fe80::
fe80::1 febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0::1 feff::1 ff00:: ff02::1 ff0e::1
ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
""")
PUBLIC_V6 = listed("""
2001:3::1 2001:4:112::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1 2400:cb00::1
2606:4700:4700::1111 2620:4f:8000::1 2620:fe::fe 2a00:1450::1 3ffd:ffff::1 3fff:1000::1
""")
NONSENSE = [
    *listed("""
localhost example.com 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 8.8.8 8.8.8.8.8 08.8.8.8 256.8.8.8 8.8.8.8/32
[2606:4700::1111] 2606:4700::1111%eth0 2606:4700::1111% fe80::1%eth0 ::ffff:8.8.8.8%1 1:2:3 ::1:: g::1 -1.0.0.0
1e0.1.1.1 8,8,8,8 http://8.8.8.8/ 8.8.8.8:80 None 0 ::ffff:8.8.8.256 8。8。8。8 ①.1.1.1
"""),
    *("", " ", " 8.8.8.8", "8.8.8.8 ", "8.8.8.8\n", "8.8.8.8\x00", "\u0668.8.8.8"),
]


@pytest.mark.parametrize("ip", PRIVATE_V4 + PRIVATE_V6 + NONSENSE)
def test_not_public(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize("ip", PUBLIC_V4 + PUBLIC_V6)
def test_public(ip: str) -> None:
    assert is_public(ip)


def carriers(ip: str) -> list[str]:
    """All IPv6 addresses that lead to an IPv4 address; Teredo with a public partner in either place."""
    v4, partner = int(IPv4Address(ip)), int(IPv4Address("8.8.8.8"))
    numbers = [
        v4,
        0xFFFF << 32 | v4,
        0x64FF9B << 96 | v4,
        0x2002 << 112 | v4 << 80 | 1,
        0x20010000 << 96 | v4 << 64 | partner ^ 0xFFFFFFFF,
        0x20010000 << 96 | partner << 64 | v4 ^ 0xFFFFFFFF,
    ]
    return [str(IPv6Address(number)) for number in numbers]


@pytest.mark.parametrize("ip", PRIVATE_V4)
def test_a_wrapped_private_address_is_not_public(ip: str) -> None:
    assert [address for address in carriers(ip) if is_public(address)] == []


@pytest.mark.parametrize("ip", ["8.8.8.8", "1.1.1.1", "223.255.255.255"])
def test_wrapped_public_addresses_are_public(ip: str) -> None:
    assert all(map(is_public, carriers(ip)))


@pytest.mark.parametrize(
    "ip", ["::ffff:127.0.0.1", "::FFFF:7F00:1", "0:0:0:0:0:ffff:7f00:0001", "::127.0.0.1", "64:ff9b::127.0.0.1"]
)
def test_every_spelling_of_a_private_address_is_private(ip: str) -> None:
    assert not is_public(ip)


@given(st.ip_addresses(v=4))
def test_mapped_is_as_public_as_the_address(ip: IPv4Address) -> None:
    assert is_public(f"::ffff:{ip}") == is_public(str(ip))


@given(st.ip_addresses(v=4))
def test_private_by_the_standard_library_is_not_public(ip: IPv4Address) -> None:
    known_global = ip in ip_network("192.0.0.0/24")
    assert known_global or not (is_public(str(ip)) and (ip.is_private or ip.is_multicast or ip.is_reserved))


@given(st.ip_addresses(v=6))
def test_spelling_does_not_matter(ip: IPv6Address) -> None:
    assert is_public(ip.exploded.upper()) == is_public(ip.compressed)


@given(st.text(max_size=40))
def test_text_never_raises(text: str) -> None:
    assert is_public(text) in {True, False}
    assert is_allowed(text, parse_networks("0.0.0.0/0")) in {True, False}
    assert isinstance(is_name_refused(text), bool)
    url_refusal(text, (), denied_ports(""))
    url_refusal(f"http://{text}/", (), denied_ports(""))


def test_networks() -> None:
    assert parse_networks("") == ()
    assert parse_networks(" 127.1.0.0/16, fd00::/8 ,10.0.0.7,") == tuple(
        map(ip_network, ("127.1.0.0/16", "fd00::/8", "10.0.0.7/32"))
    )


@pytest.mark.parametrize(
    "rule",
    ["10.0.0.0/33", "10.0.0.1/8", "10.0.0", "localhost", "10.0.0.0-10.0.0.9", "fd00::/129", "::1 ::2", "10.0.0.0/8;"],
)
def test_a_bad_network_is_named(rule: str) -> None:
    with pytest.raises(ValueError, match=r"is not a network") as caught:
        parse_networks(f"127.0.0.0/8, {rule}")
    assert repr(rule) in str(caught.value)


@pytest.mark.parametrize(
    ("ip", "opened", "allowed"),
    [
        ("127.1.0.1", "127.1.0.0/16", True),
        ("127.2.0.1", "127.1.0.0/16", False),
        ("127.0.0.1", "127.1.0.0/16", False),
        ("::ffff:127.1.0.1", "127.1.0.0/16", True),
        ("::ffff:127.0.0.1", "127.1.0.0/16", False),
        ("::127.1.0.1", "127.1.0.0/16", False),
        ("64:ff9b::7f01:1", "127.1.0.0/16", False),
        ("::1", "127.0.0.0/8", False),
        ("::1", "::1", True),
        ("8.8.8.8", "", True),
        ("8.8.8.8", "10.0.0.0/8", True),
        ("nonsense", "0.0.0.0/0, ::/0", False),
    ],
)
def test_opened_networks(ip: str, opened: str, allowed: bool) -> None:
    assert is_allowed(ip, parse_networks(opened)) == allowed


@pytest.mark.parametrize(
    ("host", "addresses", "opened", "refused"),
    [
        ("a.test", ["8.8.8.8", "2606:4700::1111"], "", ""),
        ("a.test", [], "", ""),
        ("a.test", ["8.8.8.8", "127.0.0.1"], "", "a.test is 127.0.0.1, which is not public"),
        ("127.0.0.1", ["127.0.0.1"], "", "127.0.0.1 is not public"),
        ("a.test", ["127.0.0.1"], "127.0.0.0/8", ""),
        ("a.test", ["9.9.9.9"], "", "a.test is 9.9.9.9, which is not public"),
        ("a.test", ["9.9.9.9"], "9.9.9.9/32", ""),
    ],
)
def test_a_forbidden_address_among_others_refuses_the_host(
    host: str, addresses: list[str], opened: str, refused: str
) -> None:
    found = dial_refusal(host, addresses, parse_networks(opened), lambda ip: ip == "9.9.9.9")
    assert (found or "").partition(";")[0] == refused


@pytest.mark.parametrize("host", ["127.0.0.1", "8.8.8.8", "::1", "fe80::1%eth0"])
def test_literals(host: str) -> None:
    assert is_literal(host)


@pytest.mark.parametrize("host", ["127.1", "example.com", "", "[::1]", "0x7f000001"])
def test_no_literals(host: str) -> None:
    assert not is_literal(host)


@pytest.mark.parametrize("port", [80, 443, 1024, 8000, 8080, 8443, 8900, 65535])
def test_ports_of_web_servers(port: int) -> None:
    assert port_allowed(port, denied_ports(""))


@pytest.mark.parametrize(
    "port",
    [
        -1,
        0,
        1,
        21,
        22,
        23,
        25,
        53,
        110,
        139,
        445,
        1023,
        65536,
        1433,
        2375,
        2379,
        3306,
        3389,
        5432,
        5672,
        5984,
        6000,
        6379,
        9000,
        9092,
        9200,
        11211,
        27017,
    ],
)
def test_ports_of_other_services(port: int) -> None:
    assert not port_allowed(port, denied_ports(""))


def test_ports_from_a_setting() -> None:
    assert denied_ports("") < denied_ports("8080, 9000-9002,")
    assert denied_ports("8080, 9000-9002,") - denied_ports("") == {8080, 9001, 9002}
    assert not port_allowed(8080, denied_ports("8080"))


@pytest.mark.parametrize("rule", ["http", "0", "65536", "9-8", "-5", "5-", "1-2-3", "٨٠", "8 0", "+80", "1_0"])
def test_a_bad_port_is_named(rule: str) -> None:
    with pytest.raises(ValueError, match=r"port") as caught:
        denied_ports(f"80,{rule}")
    assert repr(rule) in str(caught.value)


@pytest.mark.parametrize(
    "host",
    [
        *listed("""
localhost redis kafka 2130706433 0x7f000001 router.local a.b.svc.cluster.local x.internal metadata.google.internal
localhost.localdomain foo.localhost nas.lan wiki.corp printer.home.arpa 1.0.0.127.in-addr.arpa x.onion x.test x.example
x.invalid . a..b .com
"""),
        *("", f"{'a' * 64}.com", ".".join(["abcdefgh"] * 30)),
    ],
)
def test_names_that_are_never_looked_up(host: str) -> None:
    assert is_name_refused(host)


@pytest.mark.parametrize(
    "host",
    ["example.com", "a.b.co.uk", "xn--bcher-kva.de", "local.example.com", "internal.net", "a_b.org", f"{'a' * 63}.com"],
)
def test_names_that_are_looked_up(host: str) -> None:
    assert not is_name_refused(host)


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("http://example.com", None),
        ("https://example.com/a?b=c", None),
        ("HTTP://EXAMPLE.com:80/", None),
        ("https://example.com.:443/", None),
        ("http://example.com:8080/@x:y", None),
        ("http://xn--bcher-kva.de/", None),
        ("http://8.8.8.8/", None),
        ("http://[2606:4700::1111]:8080/", None),
        ("http://127.1.0.1:8080/", None),
        ("http://127.0.0.1/", "url_address"),
        ("http://127.1/", "url_address"),
        ("http://2130706433/", "url_address"),
        ("http://0x7f000001/", "url_address"),
        ("http://0x7f.1/", "url_address"),
        ("http://0177.0.0.1/", "url_address"),
        ("http://0/", "url_address"),
        ("http://0.0.0.0/", "url_address"),
        ("http://127.0.0.1./", "url_address"),
        ("http://①②⑦.⓪.⓪.①/", "url_address"),
        ("http://127。0。0。1/", "url_address"),
        ("http://%31%32%37.0.0.1/", "url_address"),
        ("http://[::1]/", "url_address"),
        ("http://[::ffff:127.0.0.1]/", "url_address"),
        ("http://[::ffff:7f00:1]/", "url_address"),
        ("http://[64:ff9b::7f00:1]/", "url_address"),
        ("http://169.254.169.254/latest/meta-data/", "url_address"),
        ("http://134744072/", "url_ambiguous"),
        ("http://ex%61mple.com/", "url_ambiguous"),
        ("http://example.com:080/", "url_ambiguous"),
        ("http://127.0.0.1:9801\\@example.com/", "url_ambiguous"),
        ("http:/\\127.0.0.1/", "url_ambiguous"),
        ("http:///127.0.0.1/", "url_ambiguous"),
        ("http://exa\tmple.com/", "url_ambiguous"),
        ("http://example.com\r\nHost: x/", "url_ambiguous"),
        ("http://user@example.com/", "url_userinfo"),
        ("http://example.com@127.0.0.1/", "url_userinfo"),
        ("http://:p@example.com/", "url_userinfo"),
        ("http://example.com:22/", "url_port"),
        ("http://example.com:6379/", "url_port"),
        ("http://example.com:0/", "url_port"),
        ("http://example.com:99999/", "url_malformed"),
        ("http://[fe80::1%25eth0]/", "url_malformed"),
        ("http://", "url_ambiguous"),
        ("//example.com/", "url_malformed"),
        ("", "url_malformed"),
        ("file:///etc/passwd", "url_scheme"),
        ("ftp://example.com/", "url_scheme"),
        ("data:text/html,x", "url_scheme"),
        ("gopher://example.com/", "url_scheme"),
        ("feed:http://example.com/", "url_scheme"),
        ("view-source:http://example.com/", "url_scheme"),
    ],
)  # fmt: skip
def test_urls(url: str, refusal: str | None) -> None:
    assert url_refusal(url, parse_networks("127.1.0.0/16"), denied_ports("")) == refusal
