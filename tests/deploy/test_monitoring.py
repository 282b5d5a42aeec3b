"""Alerts and dashboard speak of metrics that there are; each alert fires where it must and nowhere else."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from scrapy_process import REPOSITORY

from feedcrawl.telemetry.names import HISTOGRAMS, LATENESS, METRICS

DEPLOY = REPOSITORY / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
CASES = DEPLOY / "prometheus" / "alerts_test.yaml"
METRIC = re.compile(r"\bfeedcrawl_\w+")
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="no promtool on PATH (Debian's package prometheus has it)"
)
LABELS = re.compile(r"(feedcrawl_\w+)\{([^}]*)\}")


def promtool(*command: str, folder: Path = CASES.parent) -> subprocess.CompletedProcess[str]:
    words = ["promtool", *command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def series() -> dict[str, set[str]]:
    """What a scrape may hold, with the labels of each; a histogram is three."""
    found = {}
    for metric in METRICS:
        parts = ("_bucket", "_sum", "_count") if metric in HISTOGRAMS or metric is LATENESS else ("",)
        for part in parts:
            found[metric.full_name + part] = {*metric.labels, *(["le"] if part == "_bucket" else [])}
    return found


def alerts() -> list[dict]:
    return yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]


def expressions(where: str) -> Iterator[str]:
    if where == "alerts":
        yield from (alert["expr"] for alert in alerts())
    else:
        panels = json.loads((DEPLOY / "grafana" / "feedcrawl.json").read_text())["panels"]
        yield from (target["expr"] for panel in panels for target in panel.get("targets", ()))


@pytest.mark.parametrize("where", ["alerts", "dashboard"])
def test_every_named_metric_exists_with_its_labels(where: str) -> None:
    known = series()
    for expression in expressions(where):
        named = set(METRIC.findall(expression))
        assert named, expression
        assert named <= set(known), expression
        for name, matchers in LABELS.findall(expression):
            assert set(re.findall(r"(\w+)\s*(?:=|!)", matchers)) <= known[name], expression


def test_the_dashboard_shows_every_metric() -> None:
    shown = {name for expression in expressions("dashboard") for name in METRIC.findall(expression)}
    bare = {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown} | shown
    assert {metric.full_name for metric in METRICS} <= bare


def test_bounds_that_alerts_ask_for_are_buckets() -> None:
    for expression in (*expressions("alerts"), *expressions("dashboard")):
        for name, bound in re.findall(r'(feedcrawl_\w+)_bucket\{le="([\d.]+)"', expression):
            (metric,) = (each for each in HISTOGRAMS if each.full_name == name)
            assert bound in {str(float(each)) for each in metric.buckets}


def test_each_alert_has_a_case_that_fires_and_a_case_that_does_not() -> None:
    tests = yaml.safe_load(CASES.read_text())["tests"]
    quiet = {case["alertname"] for test in tests for case in test.get("alert_rule_test", ())}
    fired = set(re.findall(r'alertname="(\w+)"', json.dumps(tests).replace('\\"', '"')))
    assert quiet == fired == {alert["alert"] for alert in alerts()}
    assert all({"summary", "action"} <= set(alert["annotations"]) for alert in alerts())


@needs_promtool
@pytest.mark.parametrize(
    "command",
    [("check", "rules", "alerts.yaml"), ("check", "config", "prometheus.yaml"), ("test", "rules", CASES.name)],
)
def test_promtool(command: tuple[str, ...]) -> None:
    done = promtool(*command)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
@pytest.mark.parametrize("alert", [alert["alert"] for alert in alerts()])
def test_the_cases_miss_an_alert_that_never_fires(alert: str, tmp_path: Path) -> None:
    shutil.copy(CASES, tmp_path)
    rules = yaml.safe_load(ALERTS.read_text())
    (rule,) = (each for each in rules["groups"][0]["rules"] if each["alert"] == alert)
    rule["expr"] = f"({rule['expr']}) and on() vector(1) > 1"
    (tmp_path / "alerts.yaml").write_text(yaml.safe_dump(rules))
    assert promtool("test", "rules", CASES.name, folder=tmp_path).returncode != 0
