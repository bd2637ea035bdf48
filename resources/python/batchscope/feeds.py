# SPDX-License-Identifier: MIT
"""The DataLoaders that a program iterates over, and which of them has the examples of its steps."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from .division import Unknown, with_size
from .followed import FollowedLoader
from .passes import ALTERED, WatchedPass
from .reasons import Reason
from .run import distributed_models

if TYPE_CHECKING:
    from .loop import Loop
    from .run import Run


class Feed:
    """A DataLoader that was iterated over with gradients enabled. It is among that one's attributes and goes with it:
    a program may make another one, over other data, in each epoch. Copies of the DataLoader are looked at anew.
    """

    _NAME = "_batchscope_feed"

    def __init__(self, feeds: Feeds, dataloader: Any) -> None:
        self._feeds = feeds
        self._dataloader = weakref.ref(dataloader)
        self.loader, self.reason = feeds.look_at(dataloader)  # None if its size cannot be changed, and why it cannot
        if self.loader is not None:
            self.loader.feed = weakref.ref(self)
        self.trains = False  # a backward pass has followed a batch
        self.evaluates = False  # none has
        self.looked_at = 0  # batches without a backward pass since the last one with one
        self.is_ahead = False  # a batch is fetched before the one before it is used
        self.ahead: Any = None  # such a batch
        vars(dataloader)[self._NAME] = self

    def __reduce__(self) -> Any:
        return type(None), ()  # a copy of the DataLoader has none

    @classmethod
    def known(cls, dataloader: Any, feeds: Feeds) -> Feed | None:
        """The one that the DataLoader has."""
        found = vars(dataloader).get(cls._NAME)
        its_own = isinstance(found, cls) and found._feeds is feeds and found._dataloader() is dataloader
        return found if its_own else None

    @classmethod
    def of(cls, dataloader: Any, feeds: Feeds) -> Feed:
        """That one, or a new one."""
        return cls.known(dataloader, feeds) or cls(feeds, dataloader)


class Feeds:
    """All DataLoaders of the process that were iterated over with gradients enabled."""

    def __init__(self, run: Run, loop: Loop) -> None:
        self._run = run
        self._loop = loop

    def pass_over(self, dataloader: Any, stock: Any) -> Any:
        """An iterator in the place of that which `stock(dataloader)` makes."""
        if not self._loop.parts.holds:
            self._loop.boundary()  # a step that was made when the pass before was left is one of that
        if not self._run._account.models:  # before the first step, as its memory is that beyond what is in use now
            self._run._know_all_modules(early=True)
        feed = Feed.of(dataloader, self)
        if feed.evaluates:
            return stock(dataloader)
        loader = feed.loader
        if loader is None:
            return WatchedPass(self._run, self._loop, feed, stock(self._in_first_size(dataloader, feed)))
        reason = ALTERED if loader.is_altered else None if loader.has_begun() else _TWO_PASSES
        if reason is not None:
            feed.loader, feed.reason = None, reason
            return WatchedPass(self._run, self._loop, feed, stock(dataloader))
        self._lead(loader, feed)
        return loader.begin_pass(self._loop, feed)

    def length_of(self, dataloader: Any, own: int) -> int:
        """Batches of its present pass; outside of one, its own number of them, as for a schedule."""
        if self._run._schedulers.is_stepping:
            return own
        feed = Feed.known(dataloader, self)
        batches = None if feed is None or feed.loader is None else feed.loader.batches_of_pass()
        return own if batches is None else batches

    def look_at(self, dataloader: Any) -> tuple[FollowedLoader | None, Reason | None]:
        """What gives its batches; or why their size cannot be changed."""
        from torch.utils.data import DataLoader

        kind: Any = type(dataloader)
        if kind._get_iterator is not DataLoader._get_iterator:
            text = f"{kind.__name__} has iterators of its own"
            return None, Reason("own-loader", text, {"class": kind.__name__})
        try:
            reason = self._join_ranks(dataloader)
            return (None, reason) if reason is not None else (FollowedLoader(self._run, dataloader), None)
        except Unknown as unknown:
            return None, unknown.reason

    def _join_ranks(self, dataloader: Any) -> Reason | None:
        """Why the ranks of this training cannot be steered; None if they can, or there is one."""
        from torch import distributed
        from torch.utils.data.distributed import DistributedSampler

        run = self._run
        begun = distributed.is_available() and distributed.is_initialized()
        if (distributed.get_world_size() if begun else run._world) == 1:
            return None
        if type(getattr(dataloader, "sampler", None)) is not DistributedSampler:
            what = "its DataLoader has no DistributedSampler"
            return Reason("several-ranks", what, {"what": what})
        if not distributed_models():
            what = "its ranks have no DistributedDataParallel model"
            return Reason("several-ranks", what, {"what": what})
        return run._join_ranks()

    def _in_first_size(self, dataloader: Any, feed: Feed) -> Any:
        """Batches of an iterable data set have the size that is told before they begin."""
        reason, run = feed.reason, self._run
        if reason is None or reason.code != "iterable-dataset" or getattr(dataloader, "batch_size", None) is None:
            return dataloader
        run._describe(can=("first batch",), batch=dataloader.batch_size)
        run._greet(wait=True)
        size = run._told_size.get("batch")
        return dataloader if not isinstance(size, int) else with_size(dataloader, size)

    def _lead(self, loader: FollowedLoader, feed: Feed) -> None:
        """Who leads is known with the first step; until then it is the newest loader, unless both begin at once. A
        loader that comes later over other examples, which may be those of an evaluation, leads from its first step on.
        """
        run = self._run
        present = run._loader
        if present is loader:
            return
        # One that is opened in the middle of a pass may be that of an evaluation.
        loader.goes_along = feed.trains or not isinstance(present, FollowedLoader) or not present.has_begun()
        if self._leads(present):
            return
        is_new = not feed.trains and present is not None and not loader.goes_on_from(present)
        goes_along = feed.trains and not loader.has_led
        if self._loop.has_stepped and (is_new or goes_along):
            return
        before_first = run._waited and (present is None or not self._loop.has_stepped)
        loader.take_over()
        if before_first:  # the answer was one for another loader
            loader.batch, run._told_size, run._waited = loader.own_batch, {}, False

    def _leads(self, present: Any) -> bool:
        """Whether a loader that has begun goes on leading when another one begins."""
        if not isinstance(present, FollowedLoader) or not present.is_open:
            return False
        if present.newest is None:
            return False
        feed = present.feed()
        return not present.has_begun() or (feed is not None and feed.trains)


_TWO_PASSES = Reason("two-passes", "two passes over its DataLoader run at the same time")
