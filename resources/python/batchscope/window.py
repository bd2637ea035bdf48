# SPDX-License-Identifier: MIT
"""The examples of one optimizer step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .loader import Loader


class Window:
    """The examples of one optimizer step: collated micro batches. As a mapping or sequence it is its first part."""

    __slots__ = ("__weakref__", "_examples", "_loader", "parts", "prepare", "progress", "saved", "sizes")

    def __init__(
        self,
        examples: list[Any] | Callable[[], list[Any]] | None,
        parts: list[Any],
        sizes: list[int],
        loader: Loader | None = None,
    ) -> None:
        self.parts = parts
        self.sizes = sizes
        self.prepare: Callable[[Any], Any] | None = None  # what a framework does to a batch before a step
        self.saved: Any = None  # state of the training at its beginning, if it is run part by part
        self.progress = (0, 0, 0)  # of its loader with this window: epoch, examples seen, and of these in the epoch
        self._examples = examples
        self._loader = loader

    def raw(self) -> list[Any] | None:
        """What `examples` has, for whoever needs it once: those of workers are fetched again."""
        if callable(self._examples):
            self._examples = self._examples()
        return self._examples

    def need_examples(self) -> None:
        """Lets the loader keep them from now on. Raises TypeError if it has not kept these."""
        if self._loader is None:
            return
        self._loader.keep_examples()
        if self._examples is None:
            raise TypeError(
                "batchscope: this weight needs the examples, which are kept only if the first step uses them; "
                "pass examples=True to run.loader()"
            )

    @property
    def examples(self) -> list[Any] | None:
        """Not collated. None if the batch is not of Run.loader, or the loader does not keep them (Run.loader)."""
        if self._loader is not None:
            self._loader.keep_examples()
        return self.raw()

    def __getitem__(self, key: Any) -> Any:
        return self.parts[0][key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts[0])

    def __len__(self) -> int:
        return len(self.parts[0])

    def __contains__(self, key: Any) -> bool:
        return key in self.parts[0]

    def keys(self) -> Any:
        return self.parts[0].keys()

    def values(self) -> Any:
        return self.parts[0].values()

    def items(self) -> Any:
        return self.parts[0].items()

    def get(self, key: Any, default: Any = None) -> Any:
        return self.parts[0][key] if key in self else default
