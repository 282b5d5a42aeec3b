import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.secrets import record_without_secrets, without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("selectors: //x:p is no selector", "selectors: //x:p is no selector"),
        ("see //ann:pw@a.test/", "see //ann:***@a.test/"),
        ("//@", "//@"),
        ("see http://@a.test/", "see http://@a.test/"),
        ("no URL, a@b.test and x=1", "no URL, a@b.test and x=1"),
        ("http://a.test/feed?page=2#top", "http://a.test/feed?page=2#top"),
        ("http://a.test:8080/~ann/feed.xml", "http://a.test:8080/~ann/feed.xml"),
        ("http://a.test:8080", "http://a.test:8080"),
        ("http://a.test:8080/@ann/feed?x=1", "http://a.test:8080/@ann/feed?x=1"),
        ("http://[2001:db8::1]:80/@x", "http://[2001:db8::1]:80/@x"),
        ("http://[2001:db8::1]/x", "http://[2001:db8::1]/x"),
        ("feed:http://a.test:8080/x?page=2", "feed:http://a.test:8080/x?page=2"),
        ("feed:http://a.test/x: 12:30", "feed:http://a.test/x: 12:30"),
        # user info
        ("http://ann:pw@a.test/", "http://ann:***@a.test/"),
        ("http://ann:@a.test/", "http://ann:***@a.test/"),
        ("http://:pw@a.test/", "http://***@a.test/"),
        ("https://ghp_abc@a.test/x", "https://***@a.test/x"),
        ("http://ann:p@w@a.test/", "http://ann:***@a.test/"),
        ("http://ann:p:w@a.test:81/", "http://ann:***@a.test:81/"),
        ('http://ann:p"w<\'@a.test/', "http://ann:***@a.test/"),
        ("ftp://ann:pw@a.test/", "ftp://ann:***@a.test/"),
        ("redis://:pw@127.0.0.1:6379/0", "redis://***@127.0.0.1:6379/0"),
        ("//ann:pw@a.test/", "//ann:***@a.test/"),
        ("http:/ann:pw@a.test/", "http:/ann:***@a.test/"),
        ("http:ann:pw@a.test/", "http:ann:***@a.test/"),
        ("ann:pw@a.test/feed", "ann:***@a.test/feed"),
        ("http://ann:cut-sho", "http://ann:***"),  # before its @ came
        ("see <http://ann:pw@a.test/> and http://bob:pw@b.test.", "see <http://ann:***@a.test/> and http://bob:***@b.test."),
        ('{"url":"http://ann:pw@a.test/","to":"b@c.test"}', '{"url":"http://ann:***@a.test/","to":"b@c.test"}'),
        (r'{"url":"http:\/\/ann:pw@a.test\/"}', r'{"url":"http:\/\/ann:***@a.test\/"}'),
        ("http://a.test/?u=http%3A%2F%2Fann%3Apw%40b.test%2F", "http://a.test/?u=http%3A%2F%2Fann%3A***%40b.test%2F"),
        # parameters
        ("http://a.test/?token=x", "http://a.test/?token=***"),
        ("http://a.test/?a=1&Access_Token=x.y-z&b=2", "http://a.test/?a=1&Access_Token=***&b=2"),
        ("http://a.test/?key=1&keyword=2&monkey=3", "http://a.test/?key=***&keyword=2&monkey=3"),
        ("http://a.test/?api_key=1&apiKey=2&AWSAccessKeyId=3", "http://a.test/?api_key=***&apiKey=***&AWSAccessKeyId=***"),
        ("http://a.test/?sig=1&X-Amz-Signature=2&signed=3", "http://a.test/?sig=***&X-Amz-Signature=***&signed=3"),
        ("http://a.test/?password=1&passwd=2&pwd=3&pass=4", "http://a.test/?password=***&passwd=***&pwd=***&pass=***"),
        ("http://a.test/?auth=1&author=2&authors=3", "http://a.test/?auth=***&author=2&authors=3"),
        ("http://a.test/?authorization=1&oauth_verifier=2", "http://a.test/?authorization=***&oauth_verifier=***"),
        ("http://a.test/?session=1&PHPSESSID=2&sid=3", "http://a.test/?session=***&PHPSESSID=***&sid=***"),
        ("http://a.test/x;jsessionid=1", "http://a.test/x;jsessionid=***"),
        ("http://a.test/#access_token=1&state=2", "http://a.test/#access_token=***&state=2"),
        ("http://a.test/?token=", "http://a.test/?token="),
        ("http://a.test/?TO\u212aEN=1&\u017fid=2", "http://a.test/?TO\u212aEN=***&\u017fid=***"),  # fold to k and s
        ("http://a.test/?secret[0]=1&compass=2", "http://a.test/?secret[0]=***&compass=2"),
        ("a &amp;token=x&amp;y=1", "a &amp;token=***&amp;y=1"),
        ("http://a.test/?u=http%3A%2F%2Fb.test%3Ftoken%3Dx%26c%3D1", "http://a.test/?u=http%3A%2F%2Fb.test%3Ftoken%3D***%26c%3D1"),
        ('<GET http://a.test/?key=x> "y"', '<GET http://a.test/?key=***> "y"'),
    ],
)  # fmt: skip
def test_passwords_and_keys_in_urls_are_masked(text: str, shown: str) -> None:
    assert without_secrets(text) == shown
    assert without_secrets(shown) == shown


def test_records_are_masked_at_every_depth() -> None:
    url, shown = "http://ann:pw@a.test/?key=x", "http://ann:***@a.test/?key=***"
    record = {"url": url, "all": [url, {"deep": (url, 1, None, True)}], "n": 1.5}
    assert record_without_secrets(record) == {"url": shown, "all": [shown, {"deep": [shown, 1, None, True]}], "n": 1.5}


@given(st.text(st.sampled_from("htp:/@?&=%#;\\\"' a1[].token"), max_size=80))
def test_masking_again_changes_nothing(text: str) -> None:
    once = without_secrets(text)
    assert without_secrets(once) == once


@pytest.mark.parametrize(
    "piece", ["http://a:", "&token=", "?a.", "//", "@", "%3A%2F%2Fa", "&" + "token" * 20, "http:a:b"]
)
def test_the_time_is_linear(piece: str) -> None:
    assert_linear(lambda times: without_secrets("x=@" + piece * times), 2_500)
