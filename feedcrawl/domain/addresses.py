"""Addresses, names, ports and URLs that a crawler may reach.

A URL from the web may point into the crawler's own network (server-side request forgery). The decision is made on the
address to which the connection goes; names and spellings are checked earlier only where that saves a DNS lookup.
Python's `is_global` and `is_private` are not enough: they let embedded, deprecated and cloud-internal forms pass.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain import urls
from feedcrawl.domain.errors import InvalidUrl

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

Network = IPv4Network | IPv6Network

# IANA IPv4 Special-Purpose Address Registry (RFC 6890): entries that are not globally reachable, and ranges that the
# registry leaves out. It calls 192.0.0.9 and .10 (anycast of the nearest PCP and TURN server) global, but the nearest
# server is in our own network.
_CLOSED_IPV4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network: RFC 791
        "10.0.0.0/8",  # private: RFC 1918
        "100.64.0.0/10",  # carrier-grade NAT: RFC 6598; metadata of some clouds
        "127.0.0.0/8",  # loopback: RFC 1122
        "168.63.129.16/32",  # wire server of Azure; in no registry
        "169.254.0.0/16",  # link-local: RFC 3927; metadata of most clouds
        "172.16.0.0/12",  # private: RFC 1918
        "192.0.0.0/24",  # IETF protocol assignments: RFC 6890
        "192.0.2.0/24",  # documentation: RFC 5737
        "192.88.99.0/24",  # 6to4 relays, deprecated: RFC 7526
        "192.168.0.0/16",  # private: RFC 1918
        "198.18.0.0/15",  # benchmarking: RFC 2544
        "198.51.100.0/24",  # documentation: RFC 5737
        "203.0.113.0/24",  # documentation: RFC 5737
        "224.0.0.0/4",  # multicast: RFC 5771
        "240.0.0.0/4",  # reserved and broadcast: RFC 1112, RFC 919
    )
)

# RFC 4291: all addresses assigned so far are in 2000::/3. Outside are loopback, link-local, site-local, unique local,
# multicast, discard-only, SRv6 identifiers (5f00::/16) and the local-use NAT64 prefix 64:ff9b:1::/48, whose operators
# choose the position of the IPv4 address (RFC 8215), so that it cannot be unwrapped.
_GLOBAL_UNICAST = IPv6Network("2000::/3")

# IANA IPv6 Special-Purpose Address Registry (RFC 6890), within 2000::/3.
_CLOSED_IPV6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocol assignments: RFC 2928; benchmarking, ORCHID and anycast of the nearest server
        "2001:db8::/32",  # documentation: RFC 3849
        "3ffe::/16",  # 6bone, returned: RFC 3701
        "3fff::/20",  # documentation: RFC 9637
    )
)
_OPEN_IPV6 = (
    IPv6Network("2001:3::/32"),  # AMT: RFC 7450
    IPv6Network("2001:4:112::/48"),  # AS112: RFC 7535
)

_COMPATIBLE = IPv6Network("::/96")  # RFC 4291 2.5.5.1, deprecated
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052

# RFC 6761 and its registry, RFC 9476, `internal` (ICANN 2024), names that ICANN withholds because they collide with
# internal names, and names that home routers and /etc/hosts use.
_SPECIAL_TLDS = frozenset(
    {"alt", "arpa", "corp", "example", "home", "internal", "intranet", "invalid", "lan"}
    | {"local", "localdomain", "localhost", "mail", "onion", "private", "test"}
)

# Ports of services with other protocols: "bad port" of the Fetch standard above 1023, then data stores, brokers,
# orchestrators and remote consoles.
_DENIED = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080}
    | {1433, 1434, 1521, 2181, 2375, 2376, 2377, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5901, 5984, 5985, 5986}
    | {6379, 6380, 6443, 7000, 7001, 7199, 8500, 9000, 9042, 9092, 9200, 9300, 10250, 10255, 11211, 16379, 26379}
    | {27017, 27018, 27019, 28015, 28017}
)

_AUTHORITY = re.compile(r"[A-Za-z]+://([^/?#]*)")
_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
_ROOT_DOT = re.compile(r"\.(?=:|$)")


def is_public(ip: str) -> bool:
    """True if an address, as text, belongs to the public Internet.

    False for an invalid address, and for the spellings of IPv4 that inet_aton accepts (`127.1`, `0x7f000001`), which
    have to be resolved first. An IPv6 address that contains IPv4 addresses (mapped, compatible, NAT64, 6to4, Teredo) is
    public if all of them are. An address with a zone (RFC 4007) is local to a link, and not public.
    """
    try:
        address = ip_address(ip)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_public_ipv4(address)
    if address.scope_id is not None:
        return False
    carried = _carried(address)
    if carried:
        return all(map(_is_public_ipv4, carried))
    return _is_public_ipv6(address)


def _is_public_ipv4(address: IPv4Address) -> bool:
    return not any(address in network for network in _CLOSED_IPV4)


def _is_public_ipv6(address: IPv6Address) -> bool:
    if any(address in network for network in _OPEN_IPV6):
        return True
    return address in _GLOBAL_UNICAST and not any(address in network for network in _CLOSED_IPV6)


def _carried(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses to which packets for this IPv6 address go; for Teredo (RFC 4380), server and client."""
    if address.ipv4_mapped:
        return (address.ipv4_mapped,)
    if address in _COMPATIBLE or address in _NAT64:
        return (IPv4Address(address.packed[-4:]),)
    if address.sixtofour:
        return (address.sixtofour,)
    return address.teredo or ()


def parse_networks(text: str) -> tuple[Network, ...]:
    """The networks of a comma-separated text (`127.1.0.0/16, fd00::/8, 10.0.0.7`).

    ValueError names an invalid rule, host bits included: a rule that is dropped without notice would open or close the
    wrong network.
    """
    return tuple(_network(rule) for rule in map(str.strip, text.split(",")) if rule)


def _network(rule: str) -> Network:
    try:
        return ip_network(rule)
    except ValueError as error:
        raise ValueError(f"{rule!r} is not a network such as 10.0.0.0/8 or fd00::/8: {error}") from None


def is_opened(ip: str, opened: Iterable[Network]) -> bool:
    """True if an address is in one of the networks that the operator allows.

    A mapped IPv6 address (`::ffff:10.0.0.1`) counts as the IPv4 address to which the system connects.
    """
    try:
        address = ip_address(ip)
    except ValueError:
        return False
    dialled = getattr(address, "ipv4_mapped", None) or address
    return any(dialled in network for network in opened)


def is_allowed(ip: str, opened: Iterable[Network]) -> bool:
    """True if a connection to an address is allowed: the address is public, or the operator allows its network."""
    return is_public(ip) or is_opened(ip, opened)


def dial_refusal(
    host: str, addresses: Iterable[str], opened: Collection[Network], is_own: Callable[[str], bool]
) -> str | None:
    """The reason, as a sentence, why a host must not be dialled; None if it may be dialled.

    One forbidden address refuses the whole host: an attacker's name server returns an allowed and a forbidden address
    so that the second is dialled. `is_own` is True for an address of this machine: a public address of this machine is
    refused too, because it reaches services behind the machine's firewall.
    """
    refused = [ip for ip in addresses if not is_opened(ip, opened) and (not is_public(ip) or is_own(ip))]
    if not refused:
        return None
    where = host if refused == [host] else f"{host} is {', '.join(refused)}, which"
    return f"{where} is not public; FEEDCRAWL_ALLOW_NETWORKS opens ranges"


def is_literal(host: str) -> bool:
    """True if a host is an IP address (without brackets), not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def denied_ports(text: str) -> frozenset[int]:
    """The ports that are always denied, and those of a comma-separated text (`8080, 9000-9010`); ValueError names an
    invalid part.
    """
    return _DENIED.union(port for rule in map(str.strip, text.split(",")) if rule for port in _ports(rule))


def _ports(rule: str) -> range:
    bounds = _PORTS.fullmatch(rule)
    if not bounds:
        raise ValueError(f"{rule!r} is not a port or a range of ports such as 9000-9010")
    ports = range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1)
    if not ports or ports[0] < 1 or ports[-1] > 65535:
        raise ValueError(f"{rule!r} is not within the ports 1-65535")
    return ports


def port_allowed(port: int, denied: Collection[int]) -> bool:
    """True if requests to this port are allowed: 80, 443 and the ports above 1023 that are not denied."""
    return (port in {80, 443} or 1024 <= port <= 65535) and port not in denied


def is_name_refused(host: str) -> bool:
    """True if a host name is never resolved: a single label, a special-use domain, or an invalid name (RFC 1035 2.3.4).

    `host` must be in lower case, without trailing dot.
    """
    labels = host.split(".")
    if len(host) > 253 or not all(0 < len(label) < 64 for label in labels):
        return True
    return len(labels) == 1 or labels[-1] in _SPECIAL_TLDS


def url_refusal(url: str, opened: Iterable[Network], denied: Collection[int]) -> str | None:
    """The reason code if the text of a URL forbids the request: a code of InvalidUrl, `url_port` or `url_address`.

    None if the text allows the request; the resolver then checks the name. A host that another parser would read
    differently (percent-encoded, `0x7f.1`, an odd port) is `url_ambiguous`, since the fetch may use that parser.
    """
    try:
        origin = urls.origin(urls.resolve(url))
    except InvalidUrl as refusal:
        return refusal.code
    parts = urlsplit(origin)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if is_literal(host) and not is_allowed(host, opened):
        return "url_address"
    if not port_allowed(port, denied):
        return "url_port"
    return None if _authority(url) in {parts.netloc, f"{parts.netloc}:{port}"} else "url_ambiguous"


def _authority(url: str) -> str:
    """The text between `//` and the path (RFC 3986), in lower case and without trailing dot."""
    authority = _AUTHORITY.match(url)
    return _ROOT_DOT.sub("", authority[1].lower()) if authority else ""
