"""Finds `pytest.mark.behaviour(...)` in test files without importing them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.behaviours import LedgerError, Row

MARK = "behaviour"


def in_tree(tests: Path, root: Path) -> dict[str, list[str]]:
    """Row id to the tests that carry it, as `path::name`; raises LedgerError for a mark it cannot read."""
    found: dict[str, set[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        place = path.relative_to(root).as_posix()
        for row_id, test in in_source(path.read_text(encoding="utf-8"), place):
            found.setdefault(row_id, set()).add(test)
    return {row_id: sorted(tests_of) for row_id, tests_of in sorted(found.items())}


def in_source(source: str, place: str) -> Iterator[tuple[str, str]]:
    """Pairs of row id and test in one file; a mark outside every test counts for the file."""
    yield from _walk(ast.parse(source, place), place, ())


def _walk(node: ast.AST, place: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        names = (*names, node.name)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == MARK:
        for row_id in _ids(node, place):
            yield row_id, "::".join((place, *names))
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, place, names)


def _ids(call: ast.Call, place: str) -> Iterator[str]:
    if not call.args or call.keywords:
        raise LedgerError(f'{place}:{call.lineno}: a behaviour mark takes row ids: behaviour("F046")')
    for argument in call.args:
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            raise LedgerError(
                f"{place}:{call.lineno}: write the row ids of a behaviour mark as literal strings, "
                "so that the ledger can be made without importing the tests"
            )
        yield argument.value


def check(marks: Mapping[str, list[str]], rows: Mapping[str, Row]) -> None:
    """Raises LedgerError for marks of rows that do not exist or do not apply."""
    for row_id, tests in marks.items():
        row = rows.get(row_id)
        if row is None:
            raise LedgerError(f"{tests[0]}: {row_id} is not in docs/behaviours.md")
        if not row.applies:
            raise LedgerError(
                f"{tests[0]}: {row_id} is marked not applicable in docs/behaviours.md ({row.reason}); "
                "change the table or the mark"
            )
