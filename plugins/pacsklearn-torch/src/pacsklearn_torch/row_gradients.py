"""Clipped gradients of single rows, by torch.func."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, grad, vmap

from pacsklearn.kernel.outputs.withheld import silence

__all__ = ["ClippedGradients", "layer_norms"]

Floats = NDArray[np.float64]


def layer_norms(sizes: tuple[int, ...], clip_norm: float) -> tuple[float, ...]:
    """Return the clipping norm of each layer.

    Shares of the whole by the root of its size (srpp, F.4).
    """
    total = sum(sizes)
    return tuple(clip_norm * math.sqrt(size / total) for size in sizes)


class ClippedGradients:
    """Sums of the rows' gradients of the cross-entropy, each clipped, block by block.

    Parameters
    ----------
    module : torch.nn.Module
        Its parameters are read and written as one vector of doubles.
    norms : tuple of float
        Clipping norm of every parameter tensor, or a single one for all together.
    chunk_size : int
        Rows whose gradients are in memory at once.
    """

    def __init__(self, module: Any, norms: tuple[float, ...], chunk_size: int) -> None:
        self._module, self._norms, self._chunk = module, norms, chunk_size
        self._names = [name for name, _ in module.named_parameters()]
        self._row_gradients = vmap(
            grad(self._loss), in_dims=(None, None, 0, 0), randomness="different"
        )

    def total(self, rows: Any, labels: Any) -> Floats:
        """Sum over the rows of a batch; shape (d,). Zero for an empty batch."""
        parameters = {name: p.detach() for name, p in self._module.named_parameters()}
        # Copied: what a module writes into one is no noised number.
        buffers = {name: b.detach().clone() for name, b in self._module.named_buffers()}
        size = sum(p.numel() for p in parameters.values())
        total = torch.zeros(size, dtype=torch.float64)
        for start in range(0, len(rows), self._chunk):
            part = slice(start, start + self._chunk)
            # What a module keeps of the rows it saw stays in a copy, and reaches no other rows.
            self._working = copy.deepcopy(self._module)
            # What a module says while it looks at the drawn rows is about them.
            with silence():
                found = self._row_gradients(parameters, buffers, rows[part], labels[part])
            blocks = [found[name].flatten(1).to("cpu", torch.float64) for name in self._names]
            total += self._clipped(blocks).sum(dim=0)
        return np.asarray(total.numpy())

    def _clipped(self, blocks: list[Any]) -> Any:
        if len(self._norms) == 1:
            blocks = [torch.cat(blocks, dim=1)]
        scaled = []
        for block, norm in zip(blocks, self._norms, strict=True):
            largest = block.abs().amax(dim=1, keepdim=True)
            # A row whose gradient is not a number moves nothing, as if it were 0.
            usable = torch.isfinite(largest) & (largest > 0)
            # By its largest entry first: of doubles that far from 1 no square is one.
            unit = torch.where(usable, block / largest, torch.zeros_like(block))
            lengths = torch.linalg.vector_norm(unit, dim=1, keepdim=True)
            factor = torch.minimum(largest, norm / lengths)
            scaled.append(torch.where(usable, unit * factor, torch.zeros_like(block)))
        return torch.cat(scaled, dim=1)

    def _loss(self, parameters: Any, buffers: Any, row: Any, label: Any) -> Any:
        scores = functional_call(self._working, (parameters, buffers), (row[None],))
        return torch.nn.functional.cross_entropy(scores, label[None])
