"""Reads the Lua scripts of the stores, each in the folder `lua` of its package."""

from __future__ import annotations

from importlib import resources


def lua_text(package: str, name: str) -> str:
    """The text of a script."""
    return (resources.files(package) / "lua" / f"{name}.lua").read_text("utf-8")
