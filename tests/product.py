"""Products of parameters: a sample that covers each value, and the rest for the long run."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from random import Random

import pytest

Facets = frozenset[Hashable]


def leave_the_rest_for_soak(items: Sequence[pytest.Item]) -> None:
    """Mark as ``soak`` what is not in the sample of a test marked ``product``.

    ``@pytest.mark.product`` keeps as many cases as it takes for each value of each parameter to
    occur; with ``by=facets`` for each of the facets of a case, which that function gives for its
    parameters. Of these ``only=n`` keeps at most n, evenly chosen: what they show is one claim,
    about many. ``make soak`` runs the rest, with ``SOAK=sample`` what ``only`` left of the sample.
    """
    products = defaultdict(list)
    for item in items:
        if item.get_closest_marker("product") and not item.get_closest_marker("soak"):
            products[item.nodeid.partition("[")[0]].append(item)
    for name, cases in products.items():
        held = facets(cases)
        # Two tests of one product look at different cases.
        of = {item: held[item] for item in Random(name).sample(cases, len(cases))}
        chosen = set(spread(of))
        sample = [item for item in cases if item in chosen]
        only = cases[0].get_closest_marker("product").kwargs.get("only", len(sample))
        kept = set(sample[:: -(-len(sample) // only)])
        soaked = sample if os.environ.get("PACSKLEARN_SOAK") == "sample" else cases
        for item in soaked:
            if item not in kept:
                item.add_marker(pytest.mark.soak)


def facets(cases: Sequence[pytest.Item]) -> dict[pytest.Item, Facets]:
    """Return what each case of a test has that a sample should hold at least once."""
    by = cases[0].get_closest_marker("product").kwargs.get("by")
    if by is not None:
        return {item: frozenset(enumerate(by(**item.callspec.params))) for item in cases}
    # The cases share the objects their parameters are; pytest's own indices count the cases.
    place = defaultdict(dict)
    return {
        item: frozenset(
            (name, place[name].setdefault(id(value), len(place[name])))
            for name, value in item.callspec.params.items()
        )
        for item in cases
    }


def spread(cases: dict[pytest.Item, Facets]) -> list[pytest.Item]:
    """Choose few cases that hold each facet, and each about equally often."""
    having = defaultdict(list)
    for item, held in cases.items():
        for facet in held:
            having[facet].append(item)
    chosen, times = [], Counter[Hashable]()
    for facet in sorted(having, key=lambda facet: (len(having[facet]), repr(facet))):
        if not times[facet]:
            item = min(having[facet], key=lambda item: sum(times[held] for held in cases[item]))
            chosen.append(item)
            times.update(cases[item])
    return chosen
