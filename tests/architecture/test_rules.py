"""What may not be written in the package, and where what may be written goes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

# `module::function` of each broad except that does not raise again, and why nothing narrower will do there.
BROAD_EXCEPTS: dict[str, str] = {
    "feedcrawl/crawl/chains/signals.py::send_catch_log_async": "a receiver may raise anything; Scrapy logs it too",
    "feedcrawl/crawl/chains/signals.py::_awaited": "as for the receivers that are not awaited",
    "feedcrawl/parsing/children.py::call": "whatever a document provokes in a child is the outcome of that document",
    "feedcrawl/crawl/scheduler.py::_build": "a spider builds the request; one bad task must not stop the others",
    "feedcrawl/middlewares/circuit.py::_probe": "whatever a probe fails with, the host has not answered",
    "feedcrawl/crawl/robots_gate.py::_fetch": "whatever the request fails with, there is no robots.txt to read",
    "feedcrawl/handlers/site_search.py::_fetch": "whatever the request fails with, it is nothing to subscribe",
    "feedcrawl/console/subscriptions/discover.py::_fetch": "whatever the request fails with has a name",
}

# Where a serializer that runs code may stand, and why what it reads is the program's own.
OWN_CHANNELS = {
    "feedcrawl/parsing/pool.py": "what a worker sends to its children, who trust it",
    "feedcrawl/parsing/children.py": "what a worker sends to its children, who trust it",
}

UNSAFE_MODULES = {"pickle", "cPickle", "dill", "marshal", "shelve", "cloudpickle"}
UNSAFE_NAMES = {"ForkingPickler", "Pickler", "Unpickler"}
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
UNSAFE_ARGUMENTS = {("shell", True), ("verify", False)}
MUTABLE_CALLS = {"list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict"}
MUTABLE_NODES = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
REDIS_KEY = re.compile(r"(?:rss|fc):")


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return {node.module.partition(".")[0]}
    return set()


def unsafe(node: ast.AST) -> str | None:
    names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
    if found := imported(node) & UNSAFE_MODULES or names & UNSAFE_NAMES:
        return f"import of {', '.join(found)}"
    if not isinstance(node, ast.Call):
        return None
    if (name := ast.unparse(node.func)) in UNSAFE_CALLS:
        return f"{name}()"
    given = {(word.arg, word.value.value) for word in node.keywords if isinstance(word.value, ast.Constant)}
    return next((f"{word}={value}" for word, value in UNSAFE_ARGUMENTS & given), None)


def test_no_call_runs_or_trusts_foreign_bytes(modules) -> None:
    found = [
        f"{module.at(node)} {finding}: bytes from the web or the store must never reach it; "
        "use JSON, an argument list, verified TLS"
        for module in modules
        for node in ast.walk(module.tree)
        if (finding := unsafe(node)) and not (finding.startswith("import of") and module.name in OWN_CHANNELS)
    ]
    assert not found, "\n".join(found)


def is_file_object(value: ast.expr, function: ast.AST) -> bool:
    """Whether an argument is `BytesIO(…)`, or a name that its function gives nothing but that."""
    if isinstance(value, ast.Name):
        given = [
            node.value for node in ast.walk(function) if isinstance(node, ast.Assign) and value.id in assigned(node)
        ]
        return bool(given) and all(isinstance(each, ast.Call) and is_file_object(each, function) for each in given)
    return isinstance(value, ast.Call) and ast.unparse(value.func) in {"BytesIO", "io.BytesIO"}


def test_feedparser_gets_a_file_object(modules) -> None:
    # It fetches a str that looks like a URL and opens one that looks like a path.
    found = [
        f"{module.at(call)} {ast.unparse(call)[:60]}: give it BytesIO(body)"
        for module in modules
        for function in module.functions()
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "feedparser.parse"
        if not (call.args and is_file_object(call.args[0], function))
    ]
    found += [
        f"{module.at(node)} from feedparser import parse: call it as feedparser.parse, so that this test sees it"
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.module == "feedparser"
        if any(alias.name == "parse" for alias in node.names)
    ]
    assert not found, "\n".join(found)


# What Scrapy makes of a body by its declared encoding, any codec that Python knows; `urljoin` looks for a `<base>`.
DECODED = {"text", "css", "xpath", "selector", "json", "jmespath", "follow", "follow_all", "urljoin", "encoding"}
# Where bytes are decoded by a name that is no constant: after the allow-list.
DECODERS = {"feedcrawl/domain/http/encodings.py", "feedcrawl/domain/http/letters.py", "feedcrawl/parsing/answers.py"}
# (The last decodes MessagePack: what it names is no codec.)
FOREIGN_DECODERS = {"html_to_unicode", "HtmlResponse", "XmlResponse", "Selector", "LinkExtractor", "EncodingDetector"}


def scrapy_responses(module, function: ast.AST) -> set[str]:
    """Names of a function that are responses of Scrapy: by annotation, or by being called `response`."""
    if not any(isinstance(node, ast.ImportFrom) and node.module == "scrapy.http" for node in ast.walk(module.tree)):
        return set()
    annotated = {
        node.arg
        for node in ast.walk(function)
        if isinstance(node, ast.arg) and node.annotation and "Response" in ast.unparse(node.annotation)
    }
    return {"response", *annotated}


def test_a_strangers_bytes_are_decoded_by_the_allow_list(modules) -> None:
    found = [
        f"{module.at(node)} {ast.unparse(node)}: use domain/http/encodings.py, in a child process (parsing/)"
        for module in modules
        for function in module.functions()
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
        if node.attr in DECODED and isinstance(node.value, ast.Name)
        if node.value.id in scrapy_responses(module, function)
    ]
    found += [
        f"{module.at(node)} {ast.unparse(node)[:60]}: the name of the codec must come from the allow-list"
        for module in modules
        if module.name not in DECODERS
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr == "decode" and node.args and not isinstance(node.args[0], ast.Constant)
    ]
    found += [
        f"{module.at(node)} {name}: it believes any declared encoding"
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom)
        for name in sorted({alias.name for alias in node.names} & FOREIGN_DECODERS)
    ]
    assert not found, "\n".join(found)


def broad(handler: ast.ExceptHandler) -> bool:
    """Whether anything at all ends here; what cleans up and raises again lets it pass."""
    if isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None:
        return False
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in named)


def test_broad_excepts_are_few_and_have_a_reason(modules) -> None:
    places = {
        f"{module.name}::{module.function_of(handler)}": module.at(handler)
        for module in modules
        for handler in ast.walk(module.tree)
        if isinstance(handler, ast.ExceptHandler) and broad(handler)
    }
    found = [
        f"{where} {place}: name the exceptions that are expected, or give the reason in BROAD_EXCEPTS"
        for place, where in places.items()
        if place not in BROAD_EXCEPTS
    ]
    found += [
        f"{place} has no broad except any more: take it off BROAD_EXCEPTS" for place in BROAD_EXCEPTS.keys() - places
    ]
    assert not found, "\n".join(found)


def literals(tree: ast.Module) -> Iterator[ast.Constant]:
    """String constants, the first piece of an f-string included, docstrings not."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def test_redis_keys_are_named_in_a_single_module(modules, root: Path) -> None:
    # The domain knows no Redis; there such a string is the prefix of an XML name.
    found = [
        f"{module.at(node)} {node.value[:40]!r}: ask feedcrawl/store/redis/keys.py for the key"
        for module in modules
        if not module.in_domain and module.name != "feedcrawl/store/redis/keys.py"
        for node in literals(module.tree)
        if REDIS_KEY.match(node.value)
    ]
    for path in sorted((root / "feedcrawl").rglob("*.lua")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"""["'](rss|fc):""", line.partition("--")[0]):
                found.append(
                    f"{path.relative_to(root)}:{number}: pass the key in KEYS, made by feedcrawl/store/redis/keys.py"
                )
    assert not found, "\n".join(found)


def blocks(node: ast.AST) -> bool:
    """Whether a call makes Redis wait for something to come: BLPOP and its like, XREAD with BLOCK, WAIT."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    waits = any(word.arg == "block" for word in node.keywords) and node.func.attr.startswith("xread")
    return waits or node.func.attr in {
        "blpop",
        "brpop",
        "blmove",
        "blmpop",
        "brpoplpush",
        "bzpopmin",
        "bzpopmax",
        "waitaof",
    }


def test_no_command_waits_in_the_server(modules) -> None:
    found = [
        f"{module.at(node)} {ast.unparse(node)[:60]}: a connection that waits does not notice that its server is gone"
        for module in modules
        for node in ast.walk(module.tree)
        if blocks(node)
    ]
    assert not found, "\n".join(found)


def mutable(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in MUTABLE_CALLS
    return isinstance(value, MUTABLE_NODES)


def assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_the_domain_keeps_no_state(modules) -> None:
    found = [
        f"{module.at(statement)} {name}: a table is a constant (UPPER_CASE, never written to), state is an argument"
        for module in modules
        if module.in_domain
        for statement in module.tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and mutable(statement.value)
        for name in assigned(statement)
        if not name.isupper() and name != "__all__"
    ]
    found += [
        f"{module.at(node)} {ast.unparse(node)}: take the value and answer with the next one"
        for module in modules
        if module.in_domain
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Global)
    ]
    assert not found, "\n".join(found)


def test_modules_are_named_for_a_concern(modules) -> None:
    vague = {"utils", "util", "helpers", "helper", "misc", "common"}
    found = [f"{module.name}:1: name it for what it holds" for module in modules if module.stem in vague]
    assert not found, "\n".join(found)


def decides(module) -> bool:
    """Whether a module has functions of its own; one of plain values has nothing to test but its fields."""
    return any(not (function.name.startswith("__") and function.name.endswith("__")) for function in module.functions())


def mirrors(module, root: Path) -> bool:
    """True if tests stand under the module's name, that of the module it was split from, or its topic's."""
    path = Path(module.name).relative_to("feedcrawl")
    packages = [folder for folder in path.parents if len(folder.parts) >= 2]
    own = [] if path.stem == "__init__" else [path.stem.lstrip("_"), path.stem.lstrip("_").partition("_")[0]]
    stems = [path.parent / stem for stem in own] + packages
    return any(
        (root / "tests" / stem).is_dir() or any((root / "tests" / stem.parent).glob(f"test_{stem.name}*.py"))
        for stem in stems
    )


def expected_tests(module) -> str:
    folder, _, stem = module.name.removeprefix("feedcrawl/").removesuffix(".py").rpartition("/")
    return f"tests/domain/test_{stem}.py" if folder == "domain" else f"tests in tests/{folder}/"


def test_each_decision_has_its_table(modules, root: Path) -> None:
    found = [
        f"{module.name}:1 has no tests: write {expected_tests(module)}, a table of literal values"
        for module in modules
        if module.in_domain and decides(module) and not mirrors(module, root)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("code", "check", "expected"),
    [
        ("import pickle", unsafe, "import of pickle"),
        ("from pickle import loads", unsafe, "import of pickle"),
        ("from multiprocessing.reduction import ForkingPickler", unsafe, "import of ForkingPickler"),
        ("eval(text)", unsafe, "eval()"),
        ("run(command, shell=True)", unsafe, "shell=True"),
        ("get(url, verify=False)", unsafe, "verify=False"),
        ("re.compile(text)", unsafe, None),
        ("run(command, shell=False)", unsafe, None),
        ("client.blpop(name)", blocks, True),
        ("client.xreadgroup(group, worker, streams, block=0)", blocks, True),
        ("client.xreadgroup(group, worker, streams)", blocks, False),
        ("{}", mutable, True),
        ("[]", mutable, True),
        ("collections.deque()", mutable, True),
        ("frozenset({1})", mutable, False),
        ("()", mutable, False),
    ],
)
def test_each_check_finds_its_example(code: str, check, expected: object) -> None:
    statement = ast.parse(code).body[0]
    assert check(getattr(statement, "value", statement)) == expected


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("except: pass", True),
        ("except Exception: pass", True),
        ("except Exception as error: raise Other from error", True),
        ("except (OSError, BaseException): pass", True),
        ("except BaseException: raise", False),
        ("except OSError: pass", False),
    ],
)
def test_broad_excepts_are_recognised(clause: str, expected: bool) -> None:
    assert broad(ast.parse(f"try: f()\n{clause}").body[0].handlers[0]) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("feedparser.parse(BytesIO(body))", True),
        ("body = io.BytesIO(text); feedparser.parse(body)", True),
        ("feedparser.parse(body)", False),
        ("body = io.BytesIO(text); body = text; feedparser.parse(body)", False),
        ("feedparser.parse(url)", False),
    ],
)
def test_file_objects_are_recognised(code: str, expected: bool) -> None:
    tree = ast.parse(code)
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and "parse" in ast.unparse(node.func))
    assert is_file_object(call.args[0], tree) is expected
