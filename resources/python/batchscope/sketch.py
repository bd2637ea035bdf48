# SPDX-License-Identifier: MIT
"""Short descriptions of gradients, whose linear combinations are those of the gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_DIRECTIONS = 8  # random ones, on which the gradient of each parameter is projected
_BLOCK = 256  # elements that have signs of their own
_AT_ONCE = 1 << 18  # elements, in double precision


class Sketch:
    """Projections of the gradient of each parameter on some random directions, which are the same for every sketch.

    The sum of the squares of a projection is, on average over the directions, that of the gradient's elements, so
    differences between gradients are seen as what they are, in a thousandth of their memory.
    """

    def __init__(self, projections: Any) -> None:
        self.projections = projections  # a tensor: parameters x directions, in double precision

    @property
    def norm(self) -> float:
        """About the L2 norm of the gradient."""
        return float(self.projections.square().sum(0).mean().sqrt())

    def error(self, others: Sequence[tuple[float, Sketch]]) -> float:
        """How much the sum of factors times other gradients differs from this one, by the size of what is summed."""
        total = self.projections.clone()
        scale = 0.0
        for factor, other in others:
            total -= factor * other.projections
            scale += abs(factor) * other.norm
        difference = Sketch(total).norm
        scale = max(scale, self.norm)
        return difference / scale if scale > 0 else difference

    def factors(self, one: Sketch, two: Sketch) -> tuple[float, float]:
        """The factors with which two other gradients come nearest to this one when they are added."""
        import torch

        columns = torch.stack([one.projections.reshape(-1), two.projections.reshape(-1)], 1)
        answer = torch.linalg.lstsq(columns, self.projections.reshape(-1, 1), driver="gelsd").solution
        return float(answer[0]), float(answer[1])


def sketch_of(parameters: Iterable[Any]) -> Sketch:
    """Of the gradients that the parameters have now."""
    import torch

    signs = _signs(0, _BLOCK)
    rows = []
    with torch.no_grad():
        for number, parameter in enumerate(parameters):
            gradient = parameter.grad
            if gradient is None:
                rows.append(torch.zeros(_DIRECTIONS, dtype=torch.float64))
                continue
            gradient = gradient.to_dense() if gradient.is_sparse else gradient
            rows.append(_projected(gradient.reshape(-1), signs, number))
    return Sketch(torch.stack(rows) if rows else torch.zeros(1, _DIRECTIONS, dtype=torch.float64))


def _projected(flat: Any, signs: Any, number: int) -> Any:
    import torch

    total = torch.zeros(_DIRECTIONS, dtype=torch.float64)
    signs = signs.to(flat.device)
    for begin in range(0, flat.numel(), _AT_ONCE):
        chunk = flat[begin : begin + _AT_ONCE].to(torch.float64)
        missing = -chunk.numel() % _BLOCK
        if missing:
            chunk = torch.cat([chunk, chunk.new_zeros(missing)])
        blocks = chunk.view(-1, _BLOCK) @ signs
        outer = _signs((number + 1) << 40 | begin, blocks.shape[0]).to(flat.device)
        total += (blocks * outer).sum(0).cpu()
    return total


def _signs(salt: int, count: int) -> Any:
    """A matrix of so many rows of signs that look random (splitmix64): no generator is asked, which might be quiet."""
    import torch

    bits = torch.arange(count * _DIRECTIONS, dtype=torch.int64) + salt * _DIRECTIONS
    bits = bits * -7046029254386353131
    for shift, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        bits = (bits ^ (bits >> shift & ((1 << 64 - shift) - 1))) * factor
    bits = bits >> 63 & 1
    return (bits * 2 - 1).to(torch.float64).view(count, _DIRECTIONS)
