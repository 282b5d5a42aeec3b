"""Tasks of every kind with any texts, for properties of their records."""

from typing import get_args

from hypothesis import strategies as st

from feedcrawl.domain.frontier.tasks import Kind, Origin, Task

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
TASKS = st.builds(
    Task,
    id=TEXTS.filter(bool),
    kind=st.sampled_from(get_args(Kind)),
    url=TEXTS | st.sampled_from(["https://one.example/a", "http://one.example", "//one.example/", "https:///"]),
    host=TEXTS | st.just("one.example"),
    priority=st.integers(1, 10),
    origin=st.sampled_from(get_args(Origin)),
    parent=st.none() | TEXTS,
    depth=st.integers(0, 50),
    source=st.none() | TEXTS,
    category=st.none() | TEXTS,
    payload=st.dictionaries(TEXTS, VALUES, max_size=4),
)
