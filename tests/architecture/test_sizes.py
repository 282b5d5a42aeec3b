"""Small things are read, large things are searched. Lines without docstrings, since those are for the reader."""

from __future__ import annotations

import ast
import statistics

MEDIAN_LINES, P95_LINES, LONGEST_LINES = 8, 35, 60
MODULE_LINES, DOMAIN_MODULE_LINES = 400, 250
DOMAIN_PARAMETERS = 5


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return function.end_lineno - function.lineno + 1 - docstring


def longest(modules, count: int = 10) -> str:
    sized = [(lines_of(each), module.at(each), each.name) for module in modules for each in module.functions()]
    return "\n".join(f"{where} {name}: {lines} lines" for lines, where, name in sorted(sized, reverse=True)[:count])


def test_no_function_is_long(modules) -> None:
    found = [
        f"{module.at(each)} {each.name}: {lines_of(each)} lines, of at most {LONGEST_LINES}; split it by decisions"
        for module in modules
        for each in module.functions()
        if lines_of(each) > LONGEST_LINES
    ]
    assert not found, "\n".join(found)


def test_functions_are_short_as_a_rule(modules) -> None:
    sizes = sorted(lines_of(each) for module in modules for each in module.functions())
    assert statistics.median(sizes) <= MEDIAN_LINES, f"the median grew; the longest are\n{longest(modules)}"
    p95 = sizes[int(0.95 * (len(sizes) - 1))]
    assert p95 <= P95_LINES, f"the 95th percentile is {p95} lines; the longest are\n{longest(modules)}"


def test_modules_stay_within_their_lines(modules) -> None:
    found = []
    for module in modules:
        limit = DOMAIN_MODULE_LINES if module.in_domain else MODULE_LINES
        lines = len(module.text.splitlines())
        if lines > limit:
            found.append(f"{module.name}:{limit} has {lines} lines, of at most {limit}: split it by concern")
    assert not found, "\n".join(found)


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    spec = function.args
    named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
    return [parameter.arg for parameter in named if parameter.arg not in {"self", "cls"}]


def test_decisions_take_few_values(modules) -> None:
    found = [
        f"{module.at(each)} {each.name} takes {len(parameters_of(each))} parameters, of at most {DOMAIN_PARAMETERS}: "
        "group those that travel together in a frozen dataclass"
        for module in modules
        if module.in_domain
        for each in module.functions()
        if len(parameters_of(each)) > DOMAIN_PARAMETERS
    ]
    assert not found, "\n".join(found)
