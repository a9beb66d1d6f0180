"""Functions of strings and binaries. Lengths of strings count characters; `hex` and hashes use the UTF-8 bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from datetime import tzinfo
from functools import lru_cache

from delta_models.casts.explicit import Unreadable, to_bytes
from delta_models.functions.base import Apply, Function, first_type, simple
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    INTEGER,
    LONG,
    STRING,
    Array,
    DataType,
)
from delta_models.values import Value

Text = str | bytes


@lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str = "\\", *, fold: bool = False) -> re.Pattern[str]:
    """Return the regular expression of a LIKE pattern. Raises Unreadable.

    `%` stands for any characters, `_` for one; `escape` makes the next character literal.
    """
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, None)
            if following is None or following not in {"%", "_", escape}:
                raise Unreadable(f"the LIKE pattern {pattern!r} ends with, or misuses, its escape {escape!r}")
            parts.append(re.escape(following))
        else:
            parts.append(".*" if character == "%" else "." if character == "_" else re.escape(character))
    return re.compile("".join(parts), re.DOTALL | (re.IGNORECASE if fold else 0))


def _like(value: str, pattern: str, escape: str = "\\") -> bool:
    return like_pattern(pattern, escape).fullmatch(value) is not None


def _ilike(value: str, pattern: str, escape: str = "\\") -> bool:
    return like_pattern(pattern, escape, fold=True).fullmatch(value) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise Unreadable(f"{pattern!r} is no regular expression: {error}") from error


def _rlike(value: str, pattern: str) -> bool:
    return _compiled(pattern).search(value) is not None


def _regexp_replace(value: str, pattern: str, by: str) -> str:
    return _compiled(pattern).sub(re.sub(r"\$(\d)", r"\\\1", by), value)


def _regexp_extract(value: str, pattern: str, group: int = 1) -> str:
    match = _compiled(pattern).search(value)
    return (match[group] or "") if match else ""


def _substring(value: Text, start: int, length: int = 1 << 31) -> Text:
    begin = start - 1 if start > 0 else len(value) + start if start < 0 else 0
    end = begin + length
    return value[max(begin, 0) : max(end, 0)]


def _hex(value: Value) -> str:
    if isinstance(value, int):
        return f"{value & (1 << 64) - 1:X}"
    return to_bytes(value).hex().upper()


def _known(charset: str) -> str:
    """The name of a character set. Raises Unreadable for any other, such as `hex`, which is no set of characters."""
    try:
        "".encode(charset)
    except LookupError as error:
        raise Unreadable(str(error)) from error
    return charset


def _unhex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text if len(text) % 2 == 0 else f"0{text}")
    except ValueError:
        return None


def _unbase64(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise Unreadable(f"{text!r} is no base64") from error


def _pad(before: bool) -> Callable[..., Text]:
    def apply(value: str, length: int, by: str = " ") -> str:
        missing = length - len(value)
        if missing <= 0 or not by:
            return value[: max(length, 0)]
        filling = (by * (missing // len(by) + 1))[:missing]
        return filling + value if before else value + filling

    return apply


def _locate(wanted: str, text: str, start: int = 1) -> int:
    return text.find(wanted, start - 1) + 1 if start > 0 else 0


def _concat_ws(separator: str | None, *parts: Value) -> str | None:
    if separator is None:
        return None
    flat: list[str] = []
    for argument in parts:
        if isinstance(argument, tuple):
            flat += (part for part in argument if part is not None)
        elif argument is not None:
            flat.append(argument)
    return separator.join(flat)


def _concat(*values: Value) -> Value:
    joined = values[0]
    for value in values[1:]:
        joined = joined + value
    return joined


def _initcap(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" "))


def _translate(text: str, wanted: str, by: str) -> str:
    table = {
        character: by[position] if position < len(by) else None for position, character in enumerate(wanted)
    }
    return "".join(part for character in text if (part := table.get(character, character)) is not None)


def _split(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    return tuple(_compiled(pattern).split(text, maxsplit=max(limit - 1, 0)))


def _trim(strip: Callable[[str, str], str]) -> Apply:
    return lambda value, characters=" ": strip(value, characters)


def _digest(name: str) -> Apply:
    return lambda value: hashlib.new(name, to_bytes(value), usedforsecurity=False).hexdigest()


def _sha2(value: Value, bits: int) -> str | None:
    name = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(bits)
    return None if name is None else hashlib.new(name, to_bytes(value)).hexdigest()


def _length(_types: Sequence[DataType], _result: DataType, _zone: tzinfo) -> Apply:
    return len


def text_or_bytes(types: Sequence[DataType]) -> DataType:
    """Return the type of a concatenation: that of arrays, binary if every part is, else string."""
    if isinstance(types[0], Array):
        return types[0]
    return BINARY if all(data_type == BINARY for data_type in types) else STRING


_TO_TEXT = (STRING, STRING)

FUNCTIONS: dict[str, Function] = {
    "like": simple((STRING, STRING, STRING), BOOLEAN, _like, optional=1),
    "ilike": simple((STRING, STRING, STRING), BOOLEAN, _ilike, optional=1),
    "rlike": simple(_TO_TEXT, BOOLEAN, _rlike),
    "regexp": simple(_TO_TEXT, BOOLEAN, _rlike),
    "regexp_like": simple(_TO_TEXT, BOOLEAN, _rlike),
    "regexp_replace": simple((STRING, STRING, STRING), STRING, _regexp_replace),
    "regexp_extract": simple((STRING, STRING, INTEGER), STRING, _regexp_extract, optional=1),
    "length": Function((None,), lambda _: INTEGER, _length),
    "len": Function((None,), lambda _: INTEGER, _length),
    "char_length": Function((None,), lambda _: INTEGER, _length),
    "character_length": Function((None,), lambda _: INTEGER, _length),
    "octet_length": simple((None,), INTEGER, lambda value: len(to_bytes(value))),
    "bit_length": simple((None,), INTEGER, lambda value: 8 * len(to_bytes(value))),
    "upper": simple((STRING,), STRING, str.upper),
    "ucase": simple((STRING,), STRING, str.upper),
    "lower": simple((STRING,), STRING, str.lower),
    "lcase": simple((STRING,), STRING, str.lower),
    "initcap": simple((STRING,), STRING, _initcap),
    "trim": simple(_TO_TEXT, STRING, _trim(str.strip), optional=1),
    "btrim": simple(_TO_TEXT, STRING, _trim(str.strip), optional=1),
    "ltrim": simple(_TO_TEXT, STRING, _trim(str.lstrip), optional=1),
    "rtrim": simple(_TO_TEXT, STRING, _trim(str.rstrip), optional=1),
    "substring": simple((None, INTEGER, INTEGER), first_type, _substring, optional=1),
    "substr": simple((None, INTEGER, INTEGER), first_type, _substring, optional=1),
    "left": simple((None, INTEGER), first_type, lambda value, length: value[: max(length, 0)]),
    "right": simple(
        (None, INTEGER), first_type, lambda value, length: value[-length:] if length > 0 else value[:0]
    ),
    "concat": simple((None,), text_or_bytes, _concat, variadic=True),
    "||": simple((None, None), text_or_bytes, _concat),
    "concat_ws": simple((STRING, None), STRING, _concat_ws, strict=False, variadic=True, optional=1),
    "replace": simple(
        (STRING, STRING, STRING),
        STRING,
        lambda text, old, new="": text.replace(old, new) if old else text,
        optional=1,
    ),
    "translate": simple((STRING, STRING, STRING), STRING, _translate),
    "reverse": simple((None,), first_type, lambda value: value[::-1]),
    "repeat": simple((STRING, INTEGER), STRING, lambda text, count: text * max(count, 0)),
    "space": simple((INTEGER,), STRING, lambda count: " " * max(count, 0)),
    "lpad": simple((STRING, INTEGER, STRING), STRING, _pad(before=True), optional=1),
    "rpad": simple((STRING, INTEGER, STRING), STRING, _pad(before=False), optional=1),
    "instr": simple(_TO_TEXT, INTEGER, lambda text, wanted: text.find(wanted) + 1),
    "locate": simple((STRING, STRING, INTEGER), INTEGER, _locate, optional=1),
    "position": simple((STRING, STRING, INTEGER), INTEGER, _locate, optional=1),
    "contains": simple((None, None), BOOLEAN, lambda text, part: part in text),
    "startswith": simple((None, None), BOOLEAN, lambda text, part: text.startswith(part)),
    "endswith": simple((None, None), BOOLEAN, lambda text, part: text.endswith(part)),
    "ascii": simple((STRING,), INTEGER, lambda text: ord(text[0]) if text else 0),
    "chr": simple((LONG,), STRING, lambda number: chr(number % 256) if number >= 0 else ""),
    "char": simple((LONG,), STRING, lambda number: chr(number % 256) if number >= 0 else ""),
    "hex": simple((None,), STRING, _hex),
    "unhex": simple((STRING,), BINARY, _unhex),
    "base64": simple((BINARY,), STRING, lambda value: base64.b64encode(value).decode("ascii")),
    "unbase64": simple((STRING,), BINARY, _unbase64),
    "encode": simple(_TO_TEXT, BINARY, lambda text, charset: text.encode(_known(charset), "surrogateescape")),
    "decode": simple(
        (BINARY, STRING), STRING, lambda data, charset: data.decode(_known(charset), "surrogateescape")
    ),
    "split": simple((STRING, STRING, INTEGER), Array(STRING), _split, optional=1),
    "md5": simple((BINARY,), STRING, _digest("md5")),
    "sha": simple((BINARY,), STRING, _digest("sha1")),
    "sha1": simple((BINARY,), STRING, _digest("sha1")),
    "sha2": simple((BINARY, INTEGER), STRING, _sha2),
    "crc32": simple((BINARY,), LONG, zlib.crc32),
}
