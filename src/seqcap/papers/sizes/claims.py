"""The study's two claims: the gain with the fewest images, and how gains change with their number."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from seqcap.papers.sizes.study import FILE, METRIC, SMOOTHED, Slope, decoders, name_of, sizes, strength
from seqcap.report.claims import Comparison, JudgedClaim
from seqcap.report.claims_file import ClaimsFile, Comparisons, StatedClaim
from seqcap.report.inputs import Results

_Build = Callable[[Results, str, str, str], Comparison]


def claims(results: Results) -> list[Comparison]:
    ways: dict[str, _Build] = {"D1": _at_the_smallest, "D2": _along_sizes}

    def made(stated: StatedClaim, group: Comparisons) -> Iterator[Comparison]:
        for _, _, decoder, left, right in group.each():
            claim = ways[stated.id](results, decoder, left, right)
            yield replace(claim, id=stated.id, text=stated.sentence)

    return ClaimsFile.of(results).made(made)


def _at_the_smallest(results: Results, decoder: str, left: str, right: str) -> Comparison:
    size = min(sizes(results), default=min(FILE.sizes))
    phrase = f"{METRIC} with {size:,} training images, {decoders(results)[decoder]}"
    return Comparison("", "", METRIC, decoder, "best", name_of(left, size), name_of(right, size), +1, phrase=phrase)


def _along_sizes(results: Results, decoder: str, left: str, right: str) -> Comparison:
    there = tuple(sizes(results))
    sources = (Slope(left, decoder, there), Slope(right, decoder, there))
    one, other = (FILE.losses[loss].label for loss in (left, right))
    phrase = f"{METRIC} per doubling of the images, {decoders(results)[decoder]}"
    return Comparison("", "", METRIC, decoder, "best", one, other, -1, sources=sources, phrase=phrase)


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    found = []
    for loss in SMOOTHED:
        values = [strength(results, loss, size) for size in sizes(results)]
        known = [value for value in values if value is not None]
        if known:
            found.append(f"{FILE.losses[loss].label} {min(known):.2f} to {max(known):.2f}")
    return [ClaimsFile.of(results).remark("strength", found="; ".join(found))] if found else []
