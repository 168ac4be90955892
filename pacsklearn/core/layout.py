"""How a canonical vector is laid out, and so how to go back from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Layout:
    """Names and shapes of the numbers in a canonical vector, and the public facts beside them.

    Parameters
    ----------
    blocks : tuple of (str, tuple of int)
        Name and shape of each array, in the order they stand in the vector.
    facts : tuple of (str, object)
        Structure that is not noised and therefore must be public and equal for every subset:
        classes, flags, names of features. Compared between subsets, copied into what is released.
    children : tuple of (str, Layout)
        Layouts of nested parts; their numbers follow the blocks.
    """

    blocks: tuple[tuple[str, tuple[int, ...]], ...] = ()
    facts: tuple[tuple[str, Any], ...] = ()
    children: tuple[tuple[str, Layout], ...] = ()

    @classmethod
    def of(cls, arrays: Mapping[str, ArrayLike], **facts: Any) -> Layout:
        """Layout of ``arrays`` in their order, with public ``facts``."""
        blocks = tuple((name, np.shape(array)) for name, array in arrays.items())
        return cls(blocks=blocks, facts=tuple(facts.items()))

    @property
    def size(self) -> int:
        """Length of the vector, children included."""
        own = sum(math.prod(shape) for _, shape in self.blocks)
        return own + sum(child.size for _, child in self.children)

    def fact(self, name: str) -> Any:
        """Public fact of that name; KeyError when there is none."""
        return dict(self.facts)[name]

    def slices(self) -> dict[str, slice]:
        """Where each block and each child stands in the vector."""
        start, slices = 0, {}
        for name, shape in self.blocks:
            stop = start + math.prod(shape)
            slices[name] = slice(start, stop)
            start = stop
        for name, child in self.children:
            slices[name] = slice(start, start + child.size)
            start += child.size
        return slices

    def pack(self, arrays: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
        """Put blocks (and children's vectors, by name) into one vector."""
        parts = [np.ravel(np.asarray(arrays[name], dtype=np.float64)) for name in self.slices()]
        return np.concatenate(parts) if parts else np.empty(0)

    def unpack(self, vector: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Arrays by block name; a child's entry is its vector."""
        shapes = dict(self.blocks)
        return {
            name: np.array(vector[where]).reshape(shapes.get(name, (-1,)))
            for name, where in self.slices().items()
        }

    def differences(self, other: Layout, prefix: str = "") -> list[str]:
        """Say, without quoting a value, in what ``other`` differs; empty when it does not."""
        mine, theirs = dict(self.blocks), dict(other.blocks)
        differences = [
            f"{prefix}{name}: shape {mine.get(name, 'absent')} against {theirs.get(name, 'absent')}"
            for name in sorted(mine.keys() | theirs.keys())
            if mine.get(name) != theirs.get(name)
        ]
        facts, others = dict(self.facts), dict(other.facts)
        differences += [
            f"{prefix}{name} differs"
            for name in sorted(facts.keys() | others.keys())
            if name not in facts or name not in others or not _same(facts[name], others[name])
        ]
        children, cousins = dict(self.children), dict(other.children)
        for name in sorted(children.keys() | cousins.keys()):
            if name not in children or name not in cousins:
                differences.append(f"{prefix}{name} is present in one subset only")
            else:
                differences += children[name].differences(cousins[name], f"{prefix}{name}.")
        return differences


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return bool(np.array_equal(np.asarray(left), np.asarray(right)))
    # By type as well: True equals 1, and a model need not treat them alike.
    return type(left) is type(right) and bool(left == right)
