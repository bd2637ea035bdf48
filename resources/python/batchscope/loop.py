# SPDX-License-Identifier: MIT
"""Sees the steps of a training loop that knows nothing of BatchScope, by the calls of torch that every loop makes.

A step is an update of the optimizer that leads: the first one that makes an update. In a program without optimizers,
which updates its parameters itself, it is a backward pass. Its examples are the batches that were fetched since its
update before, and that a backward pass followed; others are those of an evaluation. The step is over when the next
batch is asked for, so that updates of other optimizers belong to it, or with the next update.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .followed import FollowedLoader
from .in_parts import Parts
from .reasons import Reason

if TYPE_CHECKING:
    from .feeds import Feed
    from .run import Run

_MOST_OPTIMIZERS = 4  # whose series are told
_MOST_DIVISOR = 4096  # of a loss: what is larger is no number of batches
_MOST_BEFORE, _LONGEST_BEFORE = 64, 5.0  # steps and seconds, before a training with a loader
_ONLY_LOOKED_AT = 3  # batches in turn without a backward pass: their loader is one of an evaluation


@dataclass(eq=False)  # two that look alike are two
class _Fetch:
    """A batch that was fetched with gradients enabled."""

    feed: Feed
    rows: int
    of: Any  # the pass, as a weak reference
    trained: bool = False  # a backward pass came after it
    has_gradients: bool = False  # autograd.grad() was called after it
    is_further: bool = False  # a part of the same batch as the one before


@dataclass
class _Step:
    """A step whose update was made."""

    values: dict[str, Any]
    fetches: list[_Fetch]
    passes: int = 1  # backward passes with a loss
    again: list[int] | None = None  # examples that it was trained on once more, instead of new ones


@dataclass
class _Other:
    """An optimizer that does not lead."""

    number: int  # from 2 on
    waiting: _Step | None = None  # its update since the last one of the lead


@dataclass
class _Loss:
    """The value of a backward pass, and what it was divided by at last: the batches of a step, for example."""

    value: Any
    divisor: int = 1
    weight: Any = None  # among those of the parts of a batch; a number or a tensor with one


@dataclass
class _Since:
    """What was seen since the last update of any optimizer."""

    losses: list[_Loss] = field(default_factory=list)
    calls_grad: bool = False  # autograd.grad()
    loss_of_grad: Any = None  # what that was called for, if it is one number
    norm: Any = None  # of the gradients, before they were clipped


class Loop:
    """Follows the loop of this process and reports its steps, unless the program or a Trainer does so itself."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lead: Any = None  # weak reference
        self._others: Any = weakref.WeakKeyDictionary()
        self._begun_at: Any = weakref.WeakKeyDictionary()  # updates that were counted as an optimizer's step() began
        self._has_others = False
        self._fetches: list[_Fetch] = []  # since the lead's last update
        self._last: list[_Fetch] = []  # of the last step that had any
        self._since = _Since()
        self._unscaled: tuple[int, _Loss] | None = None  # id of what a GradScaler has made, and the loss before
        self._inside = 0  # backward passes that run
        self.updates = 0  # of all optimizers
        self._by_hand: bool | None = None  # there are no optimizers; None: not looked for
        self._pending: _Step | None = None
        self._parts = 1  # batches of the last step
        self._evaluated = False  # since the last step
        self._ends = False  # the program does
        self._without_since = 0.0  # monotonic seconds, of steps without a loader
        self._watched: str | None = None  # why the size cannot be changed, as it was said
        self._thread = threading.main_thread().ident  # which trains, as far as is known
        self._trains = False  # it is known
        self.passes = 1  # backward passes of the last step
        self.steps = 0
        self.parts = Parts(run, self)
        self.fetches_elsewhere = False  # loaders are iterated over by other threads than that which trains

    @property
    def follows(self) -> bool:
        """Whether the steps of this thread are seen here and nowhere else."""
        run = self._run
        if run._loop is not self or (run._link.silent and run._schedule is None):
            return False
        return threading.get_ident() == self._thread

    @property
    def has_stepped(self) -> bool:
        """Whether an update was made, of a step that may not be over."""
        return self.steps > 0 or self._pending is not None

    @property
    def is_updated(self) -> bool:
        """Whether an update was made of a step that is not over."""
        waits = self._has_others and any(other.waiting is not None for other in self._others.values())
        return waits or self._pending is not None

    # ---- batches ----

    def boundary(self) -> None:
        """A batch is asked for: the step before is over."""
        if not self.follows or self._inside:
            return
        if self.parts.wanted:
            self.parts.rest()
        if self._pending is not None:
            self._flush()
        if self._evaluated:
            memory = self._run._account.memory
            if memory is not None:
                memory.end_evaluation()
            self._evaluated = False

    def evaluation_begins(self) -> None:
        """A loader is iterated over without gradients."""
        self._run._rests()
        self.boundary()
        self._evaluated = True

    def fetched(self, feed: Feed, rows: int, by: Any, is_further: bool = False) -> None:
        """A batch of so many examples is there, of the pass `by`; or a further part of the batch before."""
        if not self.follows:
            return
        if self._fetches:
            own = [fetch for fetch in self._fetches if fetch.feed is feed]
            self._drop([fetch for fetch in own if not (fetch.trained or fetch.has_gradients)])
        fetch: _Fetch | None = _Fetch(feed, rows, weakref.ref(by), is_further=is_further)
        if feed.is_ahead:
            fetch, feed.ahead = feed.ahead, fetch
        if fetch is not None and not feed.evaluates:
            self._fetches.append(fetch)
            if self._run._tracer is not None:
                self._run._tracer.mark("forward")

    def exhausted(self, feed: Feed) -> None:
        """A pass over the loader is through."""
        self._run._rests()
        own = [fetch for fetch in self._fetches if fetch.feed is feed]
        # One whose only batch was not used yet may be that of a loop which asks for the next batch first.
        if not feed.trains and (feed.looked_at or len(own) > 1):
            self._drop(own)
        if feed.is_ahead and feed.ahead is not None:
            self._fetches.append(feed.ahead)
        feed.ahead = None

    def _drop(self, looked_at: list[_Fetch]) -> None:
        """Nothing was computed from these."""
        for fetch in looked_at:
            fetch.feed.looked_at += 1
            fetch.feed.ahead = None if fetch.feed.trains else fetch
            if fetch.feed.looked_at >= _ONLY_LOOKED_AT and not fetch.feed.trains:
                fetch.feed.evaluates = True
        self._fetches = [fetch for fetch in self._fetches if fetch not in looked_at]

    # ---- gradients ----

    def scaled(self, loss: Any, result: Any) -> None:
        """A GradScaler has made `result` of a loss."""
        if self.follows and result is not loss and getattr(loss, "numel", int)() == 1:
            self._unscaled = id(result), _Loss(loss.detach(), _divisor_of(loss))
            self.parts.refuse_scaler()

    def backward_begins(self, tensors: Any) -> bool:
        """A backward pass from these tensors. Whether its end is to be told, too."""
        if not self._trains:
            self._trains, self._thread = True, threading.get_ident()
        if not self.follows:
            return False
        if self.parts.wanted:
            self.parts.loss_made()
        self._inside += 1
        if self._inside == 1:  # else a checkpoint's, within that of the loss
            self._loss_made(tensors)
        return True

    def grad_called(self, outputs: Any) -> None:
        """torch.autograd.grad() is called. Without a backward pass, the next update is made with what it returns."""
        if not self.follows or self._inside:
            return
        self._since.calls_grad = True
        for fetch in self._fetches:
            fetch.has_gradients = True
        loss = outputs if hasattr(outputs, "numel") else outputs[0] if len(outputs) == 1 else None
        self._since.loss_of_grad = loss.detach() if loss is not None and loss.numel() == 1 else None

    def _trained_since(self) -> list[_Fetch]:
        """Batches since the last update that this one is made with."""
        if self._since.calls_grad and not any(fetch.trained for fetch in self._fetches):
            self._mark_trained()
        return [fetch for fetch in self._fetches if fetch.trained]

    def _loss_made(self, tensors: Any) -> None:
        """The backward pass of a loss begins."""
        if self.updates == 0 and self._by_hand is None and self._since.losses:
            self._by_hand = not _optimizers()
            if self._by_hand:
                self._updated_by_hand()
        self._mark_trained()
        tracer = self._run._tracer
        if tracer is not None:
            tracer.mark("backward")
        loss = tensors if not isinstance(tensors, (list, tuple)) else tensors[0] if len(tensors) == 1 else None
        if loss is None or getattr(loss, "numel", int)() != 1:
            return
        unscaled, self._unscaled = self._unscaled, None
        if self._run._splitter.updating and self._since.losses:
            return  # closures are called again and again; the first loss is the one before the update
        found = unscaled[1] if unscaled is not None and unscaled[0] == id(loss) else None
        self._since.losses.append(found or _Loss(loss.detach(), _divisor_of(loss)))

    def _mark_trained(self) -> None:
        """Something was computed from the batches that were fetched."""
        if len(self._fetches) == 1:  # nearly always
            fetch = self._fetches[0]
            feed = fetch.feed
            if feed.trains and feed.looked_at == 0 and not feed.is_ahead and fetch.of() is not None:
                feed.ahead, fetch.trained = None, True
                return
        new = [fetch for fetch in self._fetches if not fetch.trained]
        if any(fetch.of() is not None for fetch in new):  # others were looked at, and their pass was thrown away
            looked_at = [fetch for fetch in new if fetch.of() is None]
            self._fetches = [fetch for fetch in self._fetches if fetch not in looked_at]
        for place, fetch in enumerate(self._fetches):
            feed = fetch.feed
            if not feed.trains and feed.looked_at == 1 and feed.ahead is not None and feed.ahead.of() is fetch.of():
                feed.is_ahead = True  # each batch is fetched before the one before it is used
                self._fetches[place], feed.ahead = feed.ahead, fetch
            elif not feed.is_ahead:
                feed.ahead = None
            self._fetches[place].trained = feed.trains = True
            feed.looked_at = 0

    def backward_ends(self) -> None:
        self._inside -= 1
        tracer = self._run._tracer
        if tracer is not None and self._inside == 0:
            tracer.mark("forward")  # of the next batch of the step, if no update comes first
        if self._by_hand and self._inside == 0 and self.follows:
            self._updated_by_hand()

    @property
    def is_in_parts(self) -> bool:
        """Whether the backward pass that runs is of a batch that has parts, or is watched for that."""
        return self.parts.wanted and self._inside == 1 and not self.parts.is_idle and self.follows

    @property
    def trained_fetches(self) -> int:
        """Batches since the last update that a backward pass has followed."""
        return sum(fetch.trained for fetch in self._fetches)

    def accumulates_from(self, feed: Feed | None) -> bool:
        """Whether the step that is being made has batches of this one."""
        return any(fetch.trained and fetch.feed is feed for fetch in self._fetches)

    def weigh_loss(self, weight: Any, is_mean: bool) -> None:
        """The last loss is that of a part of a batch."""
        if self._since.losses:
            self._since.losses[-1].weight = weight if is_mean else 0

    def forget_parts(self, present: bool) -> None:
        """Those before the present one, or that one, too, are not trained on."""
        self._fetches = [] if present else self._fetches[-1:]
        self._since.losses = [] if present else self._since.losses[-1:]

    def clip_norm(self, stock: Any, parameters: Any, args: Any, kwargs: Any) -> Any:
        """In the place of clip_grad_norm_."""
        if self.parts.holds:
            parameters = [parameters] if hasattr(parameters, "grad") else list(parameters)
            if self.parts.hold(lambda: self.clip_norm(stock, parameters, args, kwargs)):
                norm_type = kwargs.get("norm_type", args[1] if len(args) > 1 else 2.0)
                return self.parts.norm_so_far(parameters, float(norm_type))
        self._since.norm = norm = self.parts.clip(lambda: stock(parameters, *args, **kwargs))
        return norm

    def clip_value(self, stock: Any, parameters: Any, args: Any, kwargs: Any) -> Any:
        """In the place of clip_grad_value_."""
        if self.parts.holds:
            parameters = [parameters] if hasattr(parameters, "grad") else list(parameters)
            if self.parts.hold(lambda: stock(parameters, *args, **kwargs)):
                return None
        return self.parts.clip(lambda: stock(parameters, *args, **kwargs))

    # ---- updates ----

    def update_begins(self, optimizer: Any) -> None:
        """An optimizer's step() is called."""
        self._begun_at[optimizer] = self.updates
        if self.parts.wanted and self.follows:
            self.parts.update_begins(optimizer)
        if not self.follows:
            self._run._updates.look_at(optimizer)
        elif optimizer is not self._run._updates.last and optimizer not in self._run._account.optimizers:
            self._know(optimizer)

    def updated(self, optimizer: Any) -> None:
        """It is over; or a GradScaler has left it out."""
        begun_at = self._begun_at.pop(optimizer, self.updates)
        if self.updates > begun_at and self._is_around_lead(optimizer):
            return
        self.updates += 1
        self._by_hand = False
        if not self.follows:
            return
        self.parts.updated(optimizer)
        lead = self.lead
        if lead is None:
            self._lead = weakref.ref(optimizer)
            lead = optimizer
        if optimizer is lead or _same_parameters(optimizer, lead):
            self._lead_updated(lead)
        else:
            self._other_updated(optimizer)

    def _is_around_lead(self, optimizer: Any) -> bool:
        """Whether it is a wrapper, an optimizer itself: the one in it has made the update, and was counted."""
        lead = self.lead
        return lead is not None and optimizer is not lead and _same_parameters(optimizer, lead)

    @property
    def lead(self) -> Any:
        """The optimizer whose updates are the steps; None if there was none yet."""
        return None if self._lead is None else self._lead()

    def _updated_by_hand(self) -> None:
        if not self._run._account.models:
            self._know_models()
        self._lead_updated(None)

    def _lead_updated(self, optimizer: Any) -> None:
        if self._pending is not None:
            self._flush()
        fetches = self._trained_since()
        passes = max(1, len(self._since.losses))
        self._pending = _Step(self._values(optimizer, fetches, ""), fetches, passes)
        self._fetches = []
        if not fetches:
            self._pending.again = self._again(passes)
        if not self._has_others:
            return
        for other in self._others.values():
            if other.waiting is not None:
                self._pending.values.update(other.waiting.values)
                other.waiting = None

    def _again(self, batches: int) -> list[int] | None:
        """Examples of a step without new batches; None if those before are not known of, either."""
        own = _of_first(self._last)
        rows = [fetch.rows for fetch in own]
        loader = own[0].feed.loader if own else None
        return loader.trained_again(batches, rows) if loader is not None else rows or None

    def _other_updated(self, optimizer: Any) -> None:
        other = self._others.get(optimizer)
        if other is None:
            other = self._others[optimizer] = _Other(len(self._others) + 2)
            self._has_others = True
        if self._pending is not None:  # of the step that the lead has made
            if other.number <= _MOST_OPTIMIZERS:
                self._pending.values.update(self._values(optimizer, [], f"_{other.number}"))
            return
        if other.waiting is not None:
            self._make_lead(optimizer, other.waiting)
            return
        fetches = self._trained_since()
        values = self._values(optimizer, fetches, f"_{other.number}" if other.number <= _MOST_OPTIMIZERS else None)
        other.waiting = _Step(values, fetches)

    def _make_lead(self, optimizer: Any, waiting: _Step) -> None:
        """It has made two updates and the lead none: another training has begun."""
        self._lead = weakref.ref(optimizer)
        del self._others[optimizer]
        rest = [fetch for fetch in self._fetches if fetch not in waiting.fetches]
        values = {name.rpartition("_")[0]: value for name, value in waiting.values.items()}
        self._pending = _Step(values, waiting.fetches)
        self._fetches = rest
        self._lead_updated(optimizer)

    def _values(self, optimizer: Any, fetches: list[_Fetch], suffix: str | None) -> dict[str, Any]:
        """What an update was made with."""
        since, self._since = self._since, _Since()
        if suffix is None:
            return {}
        values: dict[str, Any] = {}
        if len(since.losses) == 1 and since.losses[0].weight is None and since.losses[0].divisor == 1:
            loss = since.losses[0].value
            values["loss" + suffix] = loss if len(fetches) < 2 else loss / len(fetches)
        elif since.losses:
            count = len(since.losses)
            divided = {count, len(fetches), self._parts}
            total = sum(loss.value * (loss.divisor if loss.divisor in divided else 1) for loss in since.losses)
            of_parts = _loss_of_parts(since.losses)
            values["loss" + suffix] = total / (len(fetches) or count) if of_parts is None else of_parts
        elif since.loss_of_grad is not None:
            values["loss" + suffix] = since.loss_of_grad
        if since.norm is not None:
            values["grad_norm" + suffix] = since.norm
        rate = None if optimizer is None else self._run._updates.rate_of(optimizer)
        if rate is not None:
            values["learning_rate" + suffix] = rate
        return values

    # ---- steps ----

    def _know(self, optimizer: Any) -> None:
        """The models and the optimizer of this training."""
        run = self._run
        if not run._account.models or not run._account.owns(optimizer):
            self._know_models()
        run._know_optimizer(optimizer)

    def _know_models(self) -> None:
        """The answer to the hello may have a budget, which needs them."""
        self._run._greet(wait=True)
        self._run._know_all_modules()

    def end(self) -> None:
        """The program ends: its last step is over."""
        if self.follows:
            self.parts.release()
        self._ends = True
        if self._pending is not None and self.follows:
            with contextlib.suppress(SystemExit):
                self._flush()

    def _flush(self) -> None:
        step, self._pending = self._pending, None
        assert step is not None
        self._last = step.fetches or self._last  # without a new one, these were trained on once more
        self.steps += 1
        self.passes = step.passes
        own = _of_first(self._last)
        feed = own[0].feed if own else None
        takes = step.again or [fetch.rows for fetch in own]
        self._parts = _batches_of(own)
        run = self._run
        loader = feed.loader if feed is not None else None
        if loader is None:
            self._watch(feed)
            run._watched_takes = takes
        else:
            loader.leads(self._parts, _span(own))
            run._takes = takes
        run._step_done(step.values)
        if loader is None and feed is None:
            run._memory.begin_computing(())
        if run._stop:
            run._raise_stop()

    def _may_begin(self) -> bool:
        """Whether steps without a loader may be those before a training: of one batch of random numbers, for example,
        or that bring a schedule to where it was.
        """
        now = time.monotonic()
        self._without_since = self._without_since or now
        return self.steps < _MOST_BEFORE and now - self._without_since < _LONGEST_BEFORE

    def present_loader(self) -> FollowedLoader | None:
        """Of the step whose update was made last; None if its size cannot be changed."""
        own = _of_first(self._pending.fetches if self._pending is not None else [])
        if not own:
            return self._run._loader if isinstance(self._run._loader, FollowedLoader) else None
        loader = own[0].feed.loader
        if loader is not None:
            loader.makes_steps_of(_batches_of(own), _span(own))
        return loader

    def _watch(self, feed: Feed | None) -> None:
        """The size of these steps cannot be changed; says why, once."""
        without = _OTHER_THREAD if self.fetches_elsewhere else _NO_LOADER
        reason = without if feed is None else feed.reason or without
        if self._watched == reason.code:
            return
        if reason is _NO_LOADER and self._may_begin() and not self._ends:
            self._run._describe(can=("trace",))
            return
        self._watched = reason.code
        self._run._loader = None
        self._run._cannot("batch", "rate")
        self._run._describe(can=("trace",))  # of a size in the command
        self._run._watch_only(reason)


def _of_first(fetches: list[_Fetch]) -> list[_Fetch]:
    """Those of them that are of the same DataLoader as the first one, whose examples are those of the step."""
    return [fetch for fetch in fetches if fetch.feed is fetches[0].feed]


def _batches_of(fetches: list[_Fetch]) -> int:
    """How many there are, at least 1; parts of a batch are one."""
    return max(1, sum(not fetch.is_further for fetch in fetches))


def _span(fetches: list[_Fetch]) -> bool:
    """Whether they are of more than one pass."""
    return fetches[0].of is not fetches[-1].of


def _loss_of_parts(losses: list[_Loss]) -> Any:
    """Of the batch that they are the parts of; None if they are not."""
    if any(loss.weight is None for loss in losses):
        return None
    total = sum(loss.weight for loss in losses)
    if isinstance(total, (int, float)):
        return sum(loss.value * loss.weight for loss in losses) / total if total else sum(one.value for one in losses)
    import torch

    return sum(torch.where(loss.weight == 0, 0.0, loss.value * loss.weight) for loss in losses) / total


def _optimizers() -> list[Any]:
    """All that there are in the process."""
    import torch

    return [item for item in gc.get_objects() if issubclass(type(item), torch.optim.Optimizer)]


_NO_LOADER = Reason("no-loader", "its steps do not take their examples from a torch DataLoader")
_OTHER_THREAD = Reason("other-thread", "its batches are fetched in a different thread from the training")


def _divisor_of(loss: Any) -> int:
    """A whole number that the loss was divided by in its last operation; 1 if there is none."""
    function = getattr(loss, "grad_fn", None)
    name = "" if function is None else function.name()
    if name not in ("DivBackward0", "MulBackward0"):
        return 1
    other = getattr(function, "_saved_other", None)
    if other is None or other.numel() != 1 or other.device.type != "cpu":  # a number on a GPU would be waited for
        return 1
    number = float(other)
    if number <= 0:
        return 1
    divisor = number if name == "DivBackward0" else 1 / number
    whole = round(min(divisor, _MOST_DIVISOR + 1))
    return whole if 2 <= whole <= _MOST_DIVISOR and abs(divisor - whole) < 1e-4 * whole else 1


def _same_parameters(one: Any, two: Any) -> bool:
    """Whether one is a wrapper of the other, as ZeroRedundancyOptimizer is."""
    parameters = [next(iter(group["params"]), None) for item in (one, two) for group in item.param_groups[:1]]
    return len(parameters) == 2 and parameters[0] is parameters[1]
