# SPDX-License-Identifier: MIT
"""Losses over the embeddings of a whole batch, in which examples meet: exact in pieces by cached gradients.

The embeddings of all examples are computed in pieces without gradients; the loss and its gradients by the embeddings,
which are small, at once; then the pieces again, each with the gradients of its embeddings (Gao et al., 2021, "Scaling
Deep Contrastive Learning Batch Size under Memory Limited Setup").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .method import Method, Scaled, key_of, modules_of, parameters_beside
from .state import RandomState, Saved

if TYPE_CHECKING:
    from .split import Piece
    from .window import Window


class Contrastive(Method):
    """`embed(*part)` returns a tensor, or several, with a row for each example; `loss(*embeddings)` their loss."""

    def __init__(
        self,
        embed: Callable[..., Any],
        loss: Callable[..., Any],
        model: Any,
        mark: Callable[[str], None],
        backward: Callable[[Any], None],
    ) -> None:
        self._embed = embed
        self._loss = loss
        self._mark = mark
        self._backward = backward
        self.model = self.wrapped = model

    def key(self) -> Any:
        return key_of(self._embed, self._loss)

    def modules(self) -> list[Any]:
        return modules_of(self.model, self._embed, self._loss)

    def others(self) -> list[Any]:
        return parameters_beside(self.model, self._embed, self._loss)

    def _embedded(self, part: Any) -> tuple[Any, ...]:
        result = self._embed(*part) if isinstance(part, (tuple, list)) else self._embed(part)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    def run(self, part: Any, parts: int, scaled: Scaled) -> Any:
        """With a sum of the embeddings as the loss: what is verified is that each is one of its own example."""
        import torch

        embeddings = self._embedded(part)
        generator = torch.Generator().manual_seed(1)
        total: Any = 0.0
        for embedding in embeddings:
            direction = torch.randn(embedding.shape[1:], generator=generator).to(embedding.device, embedding.dtype)
            total = total + (embedding * direction).sin().sum()
        scaled(total).backward()
        return total.detach()

    def run_plainly(self, window: Window) -> Any:
        import torch

        self.model.zero_grad(set_to_none=True)
        columns = list(zip(*map(self._embedded, window.parts)))
        loss = self._loss(*(column[0] if len(column) == 1 else torch.cat(column) for column in columns))
        self._backward(loss)
        return loss.detach()

    def run_together(self, pieces: Sequence[Piece], saved: Saved, running: Callable[[Piece], None]) -> Any:
        """Gradients of the loss over all pieces. `running` is told which one is being run."""
        import torch

        if len(pieces) == 1:
            running(pieces[0])
            self._mark("forward")
            loss = self._loss(*self._embedded(pieces[0].part()))
            self._mark("backward")
            self._backward(loss)
            return loss.detach()
        randoms, cached = [], []
        for piece in pieces:
            running(piece)
            randoms.append(RandomState())
            with torch.no_grad():
                cached.append(self._embedded(piece.part()))
        joined = [torch.cat(column).requires_grad_() for column in zip(*cached)]
        loss = self._loss(*joined)
        self._backward(loss)
        saved.restore()
        first = 0
        for piece, random in zip(pieces, randoms):
            running(piece)
            random.restore()
            embeddings = self._embedded(piece.part())
            gradients = [whole.grad[first : first + len(own)] for whole, own in zip(joined, embeddings)]
            torch.autograd.backward(embeddings, gradients)
            first += len(embeddings[0])
        return loss.detach()
