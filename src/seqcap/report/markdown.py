"""Markdown tables, and numbers in words."""

from collections.abc import Iterable, Sequence


def escaped(text: str) -> str:
    """A table's cell."""
    return text.replace("|", "\\|").replace("*", "\\*")


def markdown_table(matrix: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(map(escaped, row)) + " |" for row in matrix]
    return [lines[0], "|" + "---|" * len(matrix[0]), *lines[1:]]


def by_number(numbers: Iterable[tuple[str, float]]) -> str:
    """ "240: a, b; 120: c": names grouped by their numbers, the highest first."""
    names: dict[float, list[str]] = {}
    for name, number in sorted(numbers, key=lambda pair: -pair[1]):
        names.setdefault(number, []).append(name)
    return "; ".join(f"{number:,}: {', '.join(group)}" for number, group in names.items())
