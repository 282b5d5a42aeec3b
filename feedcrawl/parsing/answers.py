"""The messages from a child to its parent: MessagePack of known shapes instead of multiprocessing's pickles.

Messages of the parent are pickled, since the children trust it. Every end of a pipe that the parent has is a
`ParentEnd`, which becomes a `ChildEnd` when it is passed to a child.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import reduction
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, get_type_hints

import msgspec
from pebble.common.types import Result, ResultStatus
from pebble.pool.process import Acknowledgement, TaskProblem, TaskResult

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MESSAGE_BYTES: Final = 256 << 20
"""Longest message that a child may send: a feed of 2 MB comes to 11 MB."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The function's result, and the seconds it took in the child."""

    value: T
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """The reason why there is no result.

    `code` is the code of the Refusal that the function raised, or `parse_timeout` (CPU or wall time), `parse_memory`,
    `parse_crash` (the child died, or sent an invalid message), `parse_error` (any other exception, its text in
    `detail`), `parse_cancelled` (the pool closes).
    """

    code: str
    detail: str
    seconds: float = 0.0


class Answer(msgspec.Struct, array_like=True):
    """The outcome of one call; `value` is the encoded result where `code` is empty."""

    seconds: float
    code: str = ""
    detail: str = ""
    value: bytes = b""
    is_json: bool = False


class _Taken(msgspec.Struct, tag=True, array_like=True):
    pid: int
    task: int


class _Answered(msgspec.Struct, tag=True, array_like=True):
    task: int
    answer: Answer


class _Broken(msgspec.Struct, tag=True, array_like=True):
    """The child itself failed, for example because memory was short while it encoded the result."""

    task: int
    detail: str


_messages: Final = msgspec.msgpack.Decoder(_Taken | _Answered | _Broken)


def encode(value: object, seconds: float) -> Answer:
    """The answer with this result; TypeError or OverflowError for a value that MessagePack cannot express."""
    try:
        return Answer(seconds, value=msgspec.msgpack.encode(value))
    except UnicodeEncodeError:  # a lone surrogate, which JSON can escape: some JSON feeds have them
        plain = json.dumps(msgspec.to_builtins(value), allow_nan=True)
        return Answer(seconds, value=plain.encode(), is_json=True)


def decode(function: Callable[..., T], answer: Answer) -> Done[T] | Failed:
    """The result as the type that the function declares, else as plain values; never raises."""
    if answer.code:
        return Failed(answer.code, answer.detail, answer.seconds)
    decoder = _decoder(function)
    try:
        if answer.is_json:
            value = msgspec.convert(json.loads(answer.value), decoder.type)
        else:
            value = decoder.decode(answer.value)
    except (ValueError, RecursionError, TypeError, OverflowError) as error:
        detail = f"the child's answer is no result of {function.__name__}: {error}"
        return Failed("parse_crash", detail, answer.seconds)
    return Done(value, answer.seconds)


@lru_cache(maxsize=64)
def _decoder(function: Callable[..., Any]) -> msgspec.msgpack.Decoder[Any]:
    declared = getattr(function, "__annotations__", {}).get("return", Any)
    named = SimpleNamespace(__annotations__={"return": declared})
    return msgspec.msgpack.Decoder(get_type_hints(named, getattr(function, "__globals__", None))["return"])


class ParentEnd(Connection):
    """An end of a pipe in the parent: pickles what it sends, decodes what it receives."""

    def recv(self) -> Acknowledgement | TaskResult:
        """The next message of a child, in pebble's form; OSError for an invalid message."""
        try:
            message = _messages.decode(self.recv_bytes(MESSAGE_BYTES))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise OSError(f"a parsing process sent an invalid message: {error}") from error
        if isinstance(message, _Taken):
            return Acknowledgement(message.pid, message.task)
        if isinstance(message, _Answered):
            return TaskResult(message.task, Result(ResultStatus.SUCCESS, message.answer))
        return TaskResult(message.task, Result(ResultStatus.ERROR, ChildError(message.detail)))


class ChildEnd(Connection):
    """An end of a pipe in a child: encodes what it sends."""

    def send(self, obj: Any) -> None:
        """Sends one of pebble's messages."""
        self.send_bytes(msgspec.msgpack.encode(_message(obj)))


class ChildError(Exception):
    """A child failed outside the called function."""


def _message(sent: Acknowledgement | TaskResult | TaskProblem) -> _Taken | _Answered | _Broken:
    if isinstance(sent, Acknowledgement):
        return _Taken(sent.worker, sent.task)
    if isinstance(sent, TaskProblem):
        return _Broken(sent.task, ascii(sent.error))
    if sent.result.status is ResultStatus.SUCCESS:
        return _Answered(sent.task, sent.result.value)
    return _Broken(sent.task, ascii(sent.result.value.exception))


def pipe() -> tuple[ParentEnd, ParentEnd]:
    """The reading and the writing end of a pipe."""
    reader, writer = os.pipe()
    return ParentEnd(reader, writable=False), ParentEnd(writer, readable=False)


def _reduce(end: ParentEnd) -> tuple[Callable[..., ChildEnd], tuple[Any, bool, bool]]:
    return _rebuild, (reduction.DupFd(end.fileno()), end.readable, end.writable)


def _rebuild(duplicate: Any, readable: bool, writable: bool) -> ChildEnd:  # noqa: FBT001 - as Connection has them
    return ChildEnd(duplicate.detach(), readable, writable)


reduction.register(ParentEnd, _reduce)
