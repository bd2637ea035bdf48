# SPDX-License-Identifier: MIT
"""One training, as BatchScope sees it."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import math
import os
import random
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .account import EveryModule
from .blame import shortage_in
from .contrastive import Contrastive
from .division import Unknown, grain_of, with_size
from .evaluation_trial import EvaluationTrial
from .foresight import Foresight
from .loader import Loader, WatchedLoader
from .method import Method, PlainMethod, backward_of, nothing, why_never_split
from .parts import rows_of
from .probes import Probe, size_of, sizes_in
from .progress import Progress
from .ranks import Ranks
from .reasons import Reason
from .records import Record, Records, numbers_of
from .run_memory import RunMemory
from .schedulers import Schedulers
from .sizes import Sizes
from .split import Splitter
from .tracer import Tracer
from .updates import Updates
from .values import known, settings_of_optimizer
from .window import Window
from .wire import PROTOCOL, VERSION, WAIT_FOR_ANSWER, Link, Message, encode, integer

if TYPE_CHECKING:
    from .loop import Loop


_TALKS_EVERY = 0.2  # seconds, at least: to say what steps have taken, and to hear what is asked for


class Stop(SystemExit):
    """Raised at a step boundary when BatchScope stops the run; ends the program with exit code 0."""

    def __init__(self) -> None:
        super().__init__(0)


def _leave_group(models: list[Any]) -> None:
    """What a program does after its training, and cannot when it is stopped: gloo's threads would abort the process.

    The group ends its threads when nothing holds it any more, distributed models included.
    """
    distributed = sys.modules["torch"].distributed
    if distributed.is_initialized():
        for model in models:
            for name in ("logger", "reducer", "process_group"):
                vars(model).pop(name, None)
        with contextlib.suppress(RuntimeError):  # another rank has ended it
            distributed.destroy_process_group()
        gc.collect()


def _which(device: Any) -> str:
    """Of several GPUs, that of a worker of a sweep, which sees only this one: ", GPU 2". Else empty."""
    import torch

    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    index: int = torch.cuda.current_device() if device.index is None else device.index
    if index >= len(visible) or not visible[index]:
        return ""
    return ", " + ("" if visible[index].startswith(("GPU-", "MIG-")) else "GPU ") + visible[index]


class Run:
    """One training, as BatchScope sees it. Made by start(); used by the thread that trains."""

    # Sees the steps of a program that neither reports them itself nor has a Trainer that is attached to.
    _loop: Loop | None = None
    _reports_itself = False
    _talks_at = 0.0  # seconds of the run, before which steps of a loop need not
    _largest_step = 0  # examples of the largest step so far
    on_oom = "shrink"  # or "fail"
    _watched_takes: Sequence[int] = ()  # examples of the batches of such a step, if they cannot be changed

    def __init__(
        self,
        link: Link,
        name: str | None,
        config: dict[str, Any],
        schedule: Callable[[int, int], int | None] | None,
    ) -> None:
        self._link = link
        self._schedule = schedule
        self._rank = int(os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or 0)  # Lightning sets the second
        self._world = int(os.environ.get("WORLD_SIZE", "1") or 1)
        self._link.spill.dropping = self._rank > 0  # the file has the messages of one connection
        self._ranks: Ranks | None = None  # set if all ranks of this training act together
        self._met = False  # whether rank 0 has told the first size
        self._probes = 0
        self._can = ["report", "pause", "stop"]
        self._about: Message = {
            "type": "hello",
            "protocol": PROTOCOL,
            "client": f"python {VERSION}",
            "pid": os.getpid(),
            "rank": self._rank,
            "world": self._world,
            "run": os.environ.get("BATCHSCOPE_RUN"),
            **dict.fromkeys(
                (
                    "framework",
                    "torch",
                    "device_name",
                    "device_bytes",
                    "examples",
                    "batch",
                    "accumulate",
                    "epochs",
                    "steps",
                    "drop_last",
                    "parameters",
                )
            ),
            "device": "cpu",
            "batch_norm": False,
            "name": name,
            "config": config,
            "settings": known({"seed": given_seed()}),
            "can": self._possible(),
        }
        self._changed = True  # since the last hello
        self._unanswered = 0  # hellos on the present connection that got no welcome yet
        self._waited = False  # for a welcome
        self._step = self._steps_before = 0  # made so far, and in earlier trainings of this process
        self._examples = self._examples_before = 0  # seen so far, and in those
        self._told_size: Message = {}  # the last batch and accumulation that BatchScope has asked for
        self._began = time.monotonic()
        self._pauses = 0.0
        self._loader: Sizes | None = None  # whose examples the steps count
        self._loaders: Any = weakref.WeakSet()
        self._watched_batch: int | None = None  # of a loader whose size cannot be changed
        self._needs_distributed_model = False  # which is not looked for yet
        self._fetched: set[int] = set()  # loaders that were fetched from since the last step
        self._takes: list[int] = []
        self._records = Records(link)
        self._asks_at: int | None = None  # the step whose record asks; None: no record does
        self._answered = False
        self._answer_step = 0
        self._late = False
        self._paused = False
        self._permits = 0  # steps that may be made while paused
        self._stop = False
        self._save = False
        self._watched = False  # the program looks at `stopping` itself
        self._ended = False
        self._faults = [0, False]  # lost lines reported, malformed line reported
        self._probe: Probe | None = None
        self._never_split: Reason | None = None  # of a model of this program
        self._tracer: Tracer | None = None
        self._estimator: Callable[[list[int]], list[Any]] | None = None
        self._evaluation_trial: EvaluationTrial | None = None
        self._memory = RunMemory(self)
        self._account, self._budget = self._memory.account, self._memory.budget
        self._foresight = Foresight(self._account.between_steps)
        self._updates = Updates(self._begin_update, self._end_update)
        self._progress = Progress(self)
        self._schedulers = Schedulers(self._progress, self._tell_of_scheduler)
        self._splitter = Splitter(self)
        self._told: set[str] = set()

    # ---- what a program calls ----

    @property
    def active(self) -> bool:
        """Whether there is a BatchScope to report to, connected now or not."""
        return not self._link.silent

    @property
    def _inert(self) -> bool:
        """Nobody listens and the program has no schedule of its own: every call does what plain torch does."""
        return self._link.silent and self._schedule is None

    @property
    def stopping(self) -> bool:
        """Whether BatchScope has asked the program to stop. A program that looks at this ends by itself."""
        self._watched = True
        return self._stop

    @property
    def rate_factor(self) -> float:
        """What the learning rates of all optimizers are multiplied with in their updates."""
        return self._updates.rate_factor

    @rate_factor.setter
    def rate_factor(self, factor: float) -> None:
        self._updates.rate_factor = factor

    def report(self, step: int, **values: Any) -> None:
        """Sends the values of a step. Without a loader this is a step boundary: a pause is waited for here.

        `val_loss` and `val_accuracy` (from 0 to 1), also as `eval_...` or `valid_...`, are the run's scores.
        """
        self._stand_aside()
        if self._link.silent or self._ended:
            return
        record = Record(step, self._seconds(), numbers_of(values), {})
        if self._loader is not None:
            self._post(record)
            return
        self._greet()
        self._step = step
        self._end_step(record)
        self._raise_stop()

    def event(self, kind: str, **detail: Any) -> None:
        """Sends something that happened. Numbers in a dict `values` become series."""
        self._event_at(self._step, kind, detail)

    def finish(self, status: str = "finished", reason: str | None = None) -> None:
        """Ends the run; what is sent later is ignored. Called when the interpreter ends, if not before."""
        if self._ended or self._link.silent:
            return
        self._records.send(wait=True)
        self._greet()
        self._report_faults()
        self._ended = True
        self._budget.remove()
        if self._stop and status == "finished":
            status = "stopped"  # it ends because it was asked to
        message: Message = {"type": "bye", "status": status, "reason": reason}
        if self._link.spill.lines:
            message["spilled"] = self._link.spill.lines
        self._tell(message)
        self._link.close(WAIT_FOR_ANSWER)

    def loader(self, dataloader: Any, epochs: float | None = None, examples: bool = False) -> Loader | WatchedLoader:
        """Wraps a DataLoader over a map-style dataset, so that its batch size may change at every step.

        `epochs`: how many the program will make, if it knows; a schedule can then grow over the whole training.
        `examples`: keep them in Window.examples beside the collated batch at every step, which costs time and memory.
        Without it they are kept if the first step uses them (a `weight` does), or a batch cannot be cut without them.
        On several ranks `batch` is the size of each of them; every example is taken by one rank, once an epoch.

        A DataLoader that makes its batches in a way of its own is only watched: an event says why. Of one over an
        IterableDataset the size may be another one from the beginning.
        """
        self._stand_aside()
        if epochs is not None:
            self._describe(epochs=epochs)
        reason = None if self._inert else self._join_ranks()
        if reason is not None:
            self._watch_only(reason)
        self._needs_distributed_model = self._ranks is not None
        try:
            self._loader = Loader(self, dataloader, examples)
        except Unknown as unknown:
            return self._watched_loader(dataloader, unknown.reason)
        self._begin_training(self._step)
        return self._loader

    def backward(
        self,
        window: Any,
        fn: Callable[..., Any],
        model: Any,
        weight: Callable[[list[Any]], float] | None = None,
        scale: Any = None,
    ) -> Any:
        """Computes the gradients of a whole window, in smaller pieces if memory is short; returns the mean loss.

        `fn(*part)` (for a dict `fn(part)`) returns the mean loss of a micro batch; it may be called several times for
        one step. The loss is the mean over all examples, or over what `weight(examples)` counts. Old gradients are
        discarded first. `scale`: a GradScaler, an Accelerator, or a function of the loss that is applied before its
        backward pass; the loss that is returned is without it.

        A step is split only if the gradients of its pieces were seen to add up to those of the whole; a loss in which
        examples meet (negatives within the batch) is not: see backward_contrastive().

        On several ranks that act together the model must be a DistributedDataParallel one; loss and gradients are then
        those of all examples of all ranks, which may be run in other numbers of pieces.
        """
        if weight is not None and isinstance(window, Window):
            window.need_examples()
        mark = self._tracer.mark if self._tracer else nothing
        return self._run_window(window, PlainMethod(fn, model, weight, mark, backward_of(model, scale)))

    def backward_contrastive(
        self, window: Any, embed: Callable[..., Any], loss: Callable[..., Any], model: Any, scale: Any = None
    ) -> Any:
        """The same for a loss over the embeddings of all examples of a step, exactly, whatever the pieces.

        `embed(*part)` returns a tensor with a row for each example, or several; `loss(*embeddings)` is called with
        those of all examples. What does not fit is run in pieces, twice: for the embeddings, and for their gradients.
        """
        mark = self._tracer.mark if self._tracer else nothing
        return self._run_window(window, Contrastive(embed, loss, model, mark, backward_of(model, scale)))

    def step(self, optimizer: Any = None, loss: Any = None, **values: Any) -> None:
        """Counts an optimizer step, reports it and does what BatchScope asks for. Raises Stop if told to stop."""
        self._stand_aside()
        if optimizer is not None and not self._inert:
            self._know_optimizer(optimizer)
        if loss is not None:
            values["loss"] = loss
        self._step_done(values)
        self._raise_stop()

    def _run_window(self, window: Any, method: Method) -> Any:
        self._stand_aside()
        if not isinstance(window, Window):
            window = Window(None, [window], [rows_of(window)])
        if self._link.silent:
            return method.run_plainly(window)
        self._account.windows.add(window)
        self._know_model(method.model)
        if self._loader is not None and window._loader is self._loader:
            self._loader._used = window.progress
        return self._splitter.run(window, method)

    def _stand_aside(self) -> None:
        """The program or a Trainer says itself what its steps are."""
        if self._loop is not None:
            self._loop, self._loader = None, None
        self._reports_itself = True

    # ---- trainings ----

    def _keep_size(self) -> None:
        """A loader that is made later than the first one, or had another size in a checkpoint, has the size told."""
        if self._probe is not None and self._loader is not None:
            self._loader.batch = self._probe.batch
        self._apply(self._told_size)

    def _begin_training(self, done: int) -> None:
        """A training begins whose own count is at `done` steps; those of earlier ones of this process go before."""
        self._steps_before = max(0, self._step - done)
        self._step = self._steps_before + done
        if self._loader is not None:
            self._examples_before = max(0, self._examples - self._loader.seen)
            self._keep_size()
            self._met = False  # the other ranks have their own size, or a checkpoint's

    def _watched_loader(self, dataloader: Any, reason: Reason) -> WatchedLoader:
        """Its batches are counted and nothing else; the size of an iterable data set may be told before it begins."""
        self._loader = None
        self._watch_only(reason)
        if reason.code == "iterable-dataset" and getattr(dataloader, "batch_size", None) is not None:
            self._describe(can=("first batch",), batch=dataloader.batch_size)
            self._greet(wait=True)
            size = integer(self._told_size.get("batch"), 1)
            if size is not None:
                dataloader = with_size(dataloader, size)
        self._watched_batch = getattr(dataloader, "batch_size", None)
        return WatchedLoader(self, dataloader)

    def _watch_only(self, reason: Reason) -> None:
        """The size of this training cannot be changed."""
        self._ranks = None
        self._describe()
        if self._rank == 0:
            self.event("level", level=1, reason=reason.message())

    def _tell_once(self, about: str, reason: Reason) -> None:
        """Why something is done as it is without BatchScope."""
        if about not in self._told:
            self._told.add(about)
            self.event("watched", reason=reason.message())

    def _opened(self, loader: Loader) -> None:
        """An epoch of a loader begins. One that is iterated over beside another one has a size in ratio to it."""
        if self._needs_distributed_model:
            self._look_for_distributed_model(loader)
        lead = self._loader
        if lead is not None and lead is not loader and lead.is_open:
            if not loader.goes_along:
                return
            lead.grain = math.lcm(lead.grain, grain_of(lead.own_batch, loader.own_batch))
            loader.follow(lead)
        elif loader.may_lead:
            self._lead(loader)

    def _look_for_distributed_model(self, loader: Loader) -> None:
        """Gradients can be averaged for one that is the same on all ranks; others run as they do alone."""
        self._needs_distributed_model = False
        if distributed_models():
            return
        what = "its ranks have no DistributedDataParallel model"
        self._watch_only(Reason("several-ranks", what, {"what": what}))
        loader.leave_ranks()

    def _lead(self, loader: Sizes) -> None:
        loader.lead = None
        if self._loader is not loader:
            self._loader, self._takes = loader, []

    # ---- what the program is ----

    def _describe(self, can: Sequence[str] = (), **fields: Any) -> None:
        before = dict(self._about)
        self._about.update(fields)
        self._can = list(dict.fromkeys([*self._can, *can]))
        self._about["can"] = self._possible()
        self._changed = self._changed or self._about != before

    def _say_more(
        self, name: str | None, config: dict[str, Any] | None, schedule: Callable[[int, int], int | None] | None
    ) -> None:
        """What a further call of start() says."""
        self._schedule = schedule or self._schedule
        known_config = {**(config or {}), **self._about["config"]}
        self._describe(name=self._about["name"] or name, config=known_config)

    def _cannot(self, *what: str) -> None:
        """It was said too early that the program can."""
        self._can = [name for name in self._can if name not in what]
        self._describe()

    def _possible(self) -> list[str]:
        """What BatchScope may ask of this process."""
        if self._world == 1 or (self._ranks is not None and self._rank == 0):
            return self._can
        return ["report"] if self._ranks is not None else ["report", "pause"]

    def _join_ranks(self, one_machine: bool = False) -> Reason | None:
        """Lets the ranks of this training act together; returns why they cannot. All of them must call it.

        `one_machine`: it is known that all of them run on this one.
        """
        distributed = getattr(sys.modules.get("torch"), "distributed", None)
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            self._rank, self._world = distributed.get_rank(), distributed.get_world_size()
            self._link.spill.dropping = self._rank > 0
            self._describe(rank=self._rank, world=self._world)
        elif self._world > 1:
            what = "torch.distributed was not initialized before"
            return Reason("several-ranks", what, {"what": what})
        if self._world == 1 or self._ranks is not None:
            return None
        if not one_machine and os.environ.get("LOCAL_WORLD_SIZE") != str(self._world):  # where no BatchScope is
            return Reason("several-machines", "its ranks run on several machines, or LOCAL_WORLD_SIZE is not set")
        self._ranks = Ranks()
        self._describe()
        return None

    def _know_model(self, model: Any) -> None:
        if model is None or model in self._account.models:
            return
        import torch

        self._account.know(model)
        if self.active:
            self._updates.wait_for(self._account.owns, self._know_optimizer)
        norms = torch.nn.modules.batchnorm._BatchNorm
        if not isinstance(model, EveryModule):
            self._never_split = self._never_split or why_never_split(model)
            self._describe(can=("rate",) if self._never_split else ("rate", "split", "trace"))
        self._describe(
            torch=torch.__version__,
            parameters=sum(p.numel() for p in model.parameters()),
            batch_norm=any(isinstance(module, norms) for module in model.modules()),
        )
        self._know_device()

    def _know_device(self) -> None:
        """Of the newest model, whose memory is measured from now on."""
        import torch

        device = self._account.device or torch.device("cpu")
        self._describe(device=str(device))
        if device.type == "cuda":
            properties = torch.cuda.get_device_properties(device)
            self._describe(device_name=properties.name + _which(device), device_bytes=properties.total_memory)
        if self.active:
            self._account.measure(self._budget.closed_bytes)
            self._memory.apply_limit()

    def _look_at_device(self) -> None:
        """A model may have been moved since it was known."""
        device = self._account.device if self._account.models else None
        if device is not None and self._about.get("device") != str(device):
            if self._memory.told is not None:  # a limit of the device that it was on before
                self._memory.want_limit(self._memory.told)
            self._know_device()

    def _know_optimizer(self, optimizer: Any) -> None:
        if not self._updates.know(optimizer):
            return
        optimizer = self._updates.last
        self._account.optimizers.add(optimizer)
        known_settings = self._about["settings"]
        self._describe(settings={**known_settings, **settings_of_optimizer(optimizer), **known_settings})
        self._follow_schedulers(again=True)

    # ---- updates ----

    def _begin_update(self) -> None:
        self._splitter.updating = True
        if self._budget.bytes is not None:
            self._budget.begin_update()
        if self._tracer is not None:
            self._tracer.mark("update")

    def _end_update(self) -> None:
        self._splitter.updating = False
        self._budget.end_update()

    def _follow_schedulers(self, again: bool = False) -> None:
        """From the first change of the size on, schedulers that count updates advance by progress. `again`: there may
        be other kinds of them.
        """
        loader = self._loader
        if self._schedulers.follows and not again:
            return
        if loader is None or (loader.is_own and self._schedulers.hold is None):
            return
        if self.on_rates == "progress" and self._account.optimizers:
            self._schedulers.follow()

    on_rates = "progress"  # "own" where a framework's Trainer looks after its schedulers

    def _tell_of_scheduler(self, name: str) -> None:
        if self._rank == 0:
            self.event("scheduler", name=name, follows="progress")

    # ---- messages out ----

    def _event_at(self, step: int, kind: str, detail: Message) -> None:
        if self._link.silent or self._ended:
            return
        self._greet()
        values = detail.pop("values", {})
        self._tell(
            {
                "type": "event",
                "step": step,
                "seconds": self._seconds(),
                "kind": kind,
                "detail": detail,
                "values": values,
            }
        )

    def _tell(self, message: Message) -> None:
        """Of what comes after all records so far."""
        self._records.send(wait=False)
        self._link.post(message)

    def _report_shortage(self, detail: Message) -> None:
        """An out-of-memory error in the step that is being made."""
        self._event_at(self._step + 1, "oom", detail)
        if self._probe is not None:
            self._probe.fits = False

    def _report_retry(self, size: int, why: str) -> None:
        self._memory.begin_reading(True)  # the peak is that of the next try
        if self._rank == 0 and self._probe is None:
            self._event_at(self._step + 1, "retry", {"batch": size, "after": why})

    def _seconds(self) -> float:
        return time.monotonic() - self._began - self._pauses

    def _greet(self, wait: bool = False) -> None:
        """Says hello on a new connection, or again if what the program can do has changed."""
        if self._link.silent or (self._link.connected and not self._changed and not wait):
            return
        new = self._link.connect()
        if not self._link.connected:
            if self._changed and self._link.connections == 0:  # whoever takes the file in knows what it is of
                self._changed = False
                self._link.spill.write(encode({**self._about, "step": self._step}))
            return
        if new:
            self._unanswered = 0
        if new or self._changed:
            self._changed = False
            self._unanswered += 1
            if not new:
                self._records.send(wait=False)
            self._link.post({**self._about, "step": self._step}, numbered=False)
        if wait and not self._waited:
            self._waited = True
            end = time.monotonic() + WAIT_FOR_ANSWER
            while self._unanswered > 0 and self._link.connected and time.monotonic() < end:
                self._link.wait(end - time.monotonic())
                self._take_all()

    def _before_fetch(self, loader: Sizes | None) -> None:
        """The first batch size comes with BatchScope's answer to the hello, which has the program's own sizes."""
        self._fetched.add(id(loader))
        if not self._waited:
            if self._loader is not None:
                self._describe(batch=self._loader.batch, accumulate=self._loader.accumulate)
            self._greet(wait=True)
            self._know_every_model()
        if self._ranks is not None and not self._met:
            self._share_orders()

    def _know_every_model(self) -> None:
        """A program with a budget that computes its gradients itself does not say which model it trains."""
        if self._memory.waits_for_model and "torch" in sys.modules:
            self._know_all_modules()

    def _know_all_modules(self, early: bool = False) -> None:
        """They are what a program trains that does not say it. `early`: those with parameters may not be made yet."""
        modules = EveryModule()
        if not early or next(modules.parameters(), None) is not None:
            self._know_model(modules)

    def _share_orders(self) -> None:
        """Rank 0 tells the others what holds from the next step on. All ranks call it at the same step boundaries."""
        loader = self._loader
        if loader is None or self._ranks is None:
            return
        self._met = True
        limit = -1 if self._memory.told is None else self._memory.told
        own: list[float] = [
            loader.batch, loader.accumulate, self.rate_factor, self._stop, self._save, self.on_oom == "fail",
            self._probes, limit]  # fmt: skip
        batch, accumulate, factor, stop, save, fails, probes, limit_told = self._ranks.from_first(own)
        if self._rank == 0:
            return
        loader._batch, loader._accumulate, self.rate_factor = int(batch), int(accumulate), factor
        self._stop, self._save = bool(stop), bool(save)
        self.on_oom = "fail" if fails else "shrink"
        if probes != self._probes:
            self._probes, self._splitter.limit = int(probes), None
        told = None if limit_told == -1 else int(limit_told)
        if told != self._memory.told:
            self._memory.want_limit(told)
            self._memory.apply_limit()

    def _post(self, record: Record) -> None:
        self._greet()
        self._records.add(record)
        self._records.send(wait="ask" in record.about)

    def _report_faults(self) -> None:
        lost = self._link.spill.lost
        if lost > self._faults[0] and (self._link.connected or self._ended):
            self._faults[0] = lost
            self.event("lost", lines=lost)
        if self._link.malformed is not None and not self._faults[1]:
            self._faults[1] = True
            self.event("protocol", line=self._link.malformed)

    # ---- a step ----

    def _step_done(self, values: dict[str, Any]) -> None:
        if self._step == 0:
            self._look_at_device()
        self._greet()
        self._step += 1
        if self._tracer is not None:
            self._finish_trace()
        sizes = self._sizes()
        if self._schedule is not None and self._loader is not None and (self._ranks is None or self._rank == 0):
            size = self._schedule(self._step, self._loader.batch)
            if size is not None:
                self._loader.batch = size
        if not self._link.silent and not self._ended:
            self._report_step(values, sizes)
        if self._ranks is not None:
            self._share_orders()
        self._follow_schedulers()

    def _report_step(self, values: dict[str, Any], sizes: Message) -> None:
        record = Record(self._step, self._seconds(), {}, {})
        takes = sizes.get("takes", ())
        if self._rank == 0:  # which alone reports the training
            if self._updates.rate is not None and "learning_rate" not in values:
                values["learning_rate"] = self._updates.rate
            record.values, record.about = numbers_of(values), sizes
        if self._account.memory is not None:
            record.about.update(self._memory.of_step(tuple(takes), record.seconds))
        self._end_step(record)

    def _sizes(self) -> Message:
        """What the step that was just made has taken."""
        if self._loader is None:
            return self._watched_sizes()
        if self._fetched and id(self._loader) not in self._fetched:
            self._promote()
        self._fetched.clear()
        self._loader._count_step()
        self._progress.count_step(self._loader)
        takes, self._takes = self._takes, []
        sizes = self._loader._series(takes)
        self._examples = sizes["examples_seen"]
        self._largest_step = max(self._largest_step, sum(takes))
        return sizes

    def _watched_sizes(self) -> Message:
        """The same of batches that cannot be changed, as far as they are known."""
        takes = self._watched_takes
        if not takes or self._loop is None:
            return known({"batch": self._watched_batch})
        self._largest_step = max(self._largest_step, sum(takes))
        self._examples += sum(takes)
        return {"takes": takes, "batch": takes[0], "accumulate": len(takes), "examples_seen": self._examples}

    def _promote(self) -> None:
        """The epoch of the loader that led was left early; the steps have the examples of another one."""
        for loader in list(self._loaders):
            if id(loader) in self._fetched:
                self._lead(loader)
                self._takes = loader._own([loader.last_total])
                return

    def _end_step(self, record: Record) -> None:
        """Sends the record and does what BatchScope asks for. Every step boundary comes by here once. Steps of a loop
        that nothing is asked of follow each other; they talk to BatchScope together.
        """
        asks = (
            self._asks_at is not None
            and self._step >= self._asks_at
            and self._probe is None
            and self._link.connected
        )
        if self._may_wait(record, asks):
            self._records.add(record)
            return
        self._talks_at = record.seconds + _TALKS_EVERY
        if asks:
            record.about["ask"] = True
            self._answered = False
        probe = self._probe  # one that is asked for now begins with the next step
        if probe is not None:
            probe.saw(record.about.get("peak_bytes"), record.about.get("takes") or ())
        self._post(record)
        self._report_faults()
        self._take_all()
        if asks:
            self._await_answer()
        self._wait_while_paused()
        if probe is not None and self._probe is probe:
            probe.advance()
        self._memory.apply_limit()

    def _may_wait(self, record: Record, asks: bool) -> bool:
        """Whether it is soon enough to talk to BatchScope after a later step."""
        soon = record.seconds < self._talks_at and self._loop is not None and self._link.connected
        return soon and not (asks or self._paused or self._stop) and self._probe is None and self._ranks is None

    def _rests(self) -> None:
        """The next step may be long in coming."""
        self._records.send(wait=False)
        self._talks_at = self._memory.reads_at = 0.0

    def _await_answer(self) -> None:
        end = time.monotonic() + (0 if self._late else WAIT_FOR_ANSWER)
        while not self._answered and not self._stop and self._link.connected:
            left = end - time.monotonic()
            if left <= 0:
                if not self._late:
                    self._late = True
                    self.event("late", seconds=WAIT_FOR_ANSWER)
                return
            self._link.wait(left)
            self._take_all()

    def _wait_while_paused(self) -> None:
        if not self._paused or self._permits > 0:
            self._permits = max(0, self._permits - 1)
            return
        start = time.monotonic()
        self._records.send(wait=True)
        self.event("status", status="paused")
        while self._paused and not self._permits and not self._stop and self._link.connected:
            self._link.wait(None)
            self._take_all()
        if not self._link.connected:  # nobody could end the pause
            self._paused = False
        self._permits = max(0, self._permits - 1)
        self._pauses += time.monotonic() - start
        self.event("status", status="running")

    def _raise_stop(self) -> None:
        if self._stop and not self._watched:
            self.finish("stopped")
            if self._ranks is not None:
                atexit.register(_leave_group, list(self._account.models))
            raise Stop()

    # ---- messages in ----

    def _take_all(self) -> None:
        for message in self._link.receive():
            self._unanswered -= message["type"] == "welcome"
            if self._ranks is not None and self._rank > 0 and message["type"] != "refuse":
                continue  # rank 0 tells what holds
            handler = getattr(self, "_take_" + message["type"].replace("-", "_"), None)
            if handler is None:
                continue  # of a later version
            try:
                handler(message)
            except (TypeError, ValueError, KeyError, AttributeError):  # fields of wrong types
                self._link.complain(json.dumps(message)[:200])
        self._report_faults()

    def _take_welcome(self, message: Message) -> None:
        if message.get("on_oom") in ("shrink", "fail"):
            self.on_oom = message["on_oom"]
        if message.get("limit_bytes") is not None:
            self._memory.want_limit(message["limit_bytes"])
            self._memory.apply_limit()
        self._apply(message)
        self._set_hold(message.get("hold", 0), integer(message.get("step"), 1) or self._step + 1)

    def _take_refuse(self, message: Message) -> None:
        self._link.refuse()
        self._budget.remove()

    def _take_next(self, message: Message) -> None:
        step = integer(message.get("step"), 0) or self._step + 1
        self._answered = True
        self._late = False
        if step < self._answer_step:
            return  # an answer that is older than one that was followed
        self._answer_step = step
        self._apply(message)
        self._set_hold(message.get("hold", 1), step)

    def _take_edit(self, message: Message) -> None:
        self._apply(message)
        if "limit_bytes" in message:
            self._memory.want_limit(message["limit_bytes"])
            self._memory.apply_limit()
        if "hold" in message:
            self._set_hold(message["hold"], self._step + 1)
        loader = self._loader
        self._tell(
            {
                "type": "applied",
                "id": message.get("id"),
                "step": self._step,
                "batch": loader.batch if loader else None,
                "accumulate": loader.accumulate if loader else None,
                "rate_factor": self.rate_factor,
                "limit_bytes": self._budget.bytes,
            }
        )

    def _take_pause(self, message: Message) -> None:
        self._paused = True
        self._permits = 0

    def _take_continue(self, message: Message) -> None:
        self._paused = False
        self._permits = 0

    def _take_step(self, message: Message) -> None:
        self._paused = True
        self._permits += 1

    def _take_stop(self, message: Message) -> None:
        self._stop = True
        self._save = bool(message.get("save"))

    def _take_probe(self, message: Message) -> None:
        self._answered, self._late = True, False
        sizes = sizes_in(message)
        if sizes and (self._loader is not None or "trace" in self._can):
            own = 0 if self._loader is None else self._loader.batch
            before = own if self._probe is None else self._probe.before
            self._probe = Probe(self, sizes, str(message.get("then", "go-on")), before)
            self._probe.start()

    def _take_estimate(self, message: Message) -> None:
        answer: Message = {"type": "estimate", "method": "fake"}
        batches = [size for size in message.get("batches") or [] if integer(size, 1)]
        try:
            if self._estimator is None:
                raise ValueError("memory can be estimated only for a Trainer that BatchScope is attached to")
            answer["curve"] = self._estimator(batches)
        except Exception as error:  # whatever the model does on tensors without data
            answer["error"] = f"{type(error).__name__}: {error}"[:500]
            if type(error).__name__ == "DataDependentOutputException":
                answer["error"] = (
                    "the model reads values of its tensors, which have no data in an estimate (with "
                    "transformers before 5: those of an attention mask)"
                )
        self._tell(answer)

    def _apply(self, message: Message) -> None:
        """Takes over the sizes and the rate of a message; what is not possible is clamped."""
        if self._probe is None:
            batch, accumulate = message.get("batch"), message.get("accumulate")
            self._told_size = {**self._told_size, **known({"batch": batch, "accumulate": accumulate})}
            if self._loader is not None and isinstance(batch, int):
                self._loader.batch = batch
            if self._loader is not None and isinstance(accumulate, int):
                self._loader.accumulate = accumulate
        factor = message.get("rate_factor")
        if isinstance(factor, (int, float)) and math.isfinite(factor) and factor >= 0:
            self.rate_factor = float(factor)

    def _set_hold(self, hold: Any, step: int) -> None:
        """The next `hold` steps from `step` on need no asking; 0: none does."""
        steps = integer(hold) or 0
        self._asks_at = step + steps - 1 if steps else None

    # ---- probes ----

    def _can_evaluate(self, trial: EvaluationTrial) -> None:
        """Batches of evaluations of this training can be tried."""
        self._evaluation_trial = trial
        self._describe(can=("evaluate",))

    def _forget_limit(self) -> None:
        self._splitter.limit = None
        self._probes += 1  # other ranks forget theirs, too

    def _end_probe(self, probe: Probe) -> None:
        self._probe = None
        self._budget.end_probes()
        self._forget_limit()

    def _begin_trace(self) -> None:
        """The next step is listed. The list is no part of the budget; the step begins when its batch is there."""
        with self._budget.paused():
            self._tracer = Tracer(self._account.model, self._updates.last)

    def _finish_trace(self) -> None:
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        with self._budget.paused():
            takes = self._watched_takes if self._loader is None else self._takes
            message = tracer.finish(size_of(takes) if self._probe is None else self._probe.traced_size(takes))
        if message["batch"]:
            self._tell(message)

    # ---- its end ----

    def _at_exit(self) -> None:
        try:
            self._say_how_it_ended()
        finally:
            if self._tracer is not None:  # torch ends badly while it profiles
                with contextlib.suppress(Exception):
                    self._tracer.finish(0)

    def _say_how_it_ended(self) -> None:
        if self._loop is not None:
            self._loop.end()
        error = getattr(sys, "last_value", None)
        if error is None or isinstance(error, SystemExit):
            self.finish("stopped" if self._stop else "finished")
            return
        detail = shortage_in(error, self._account.models, self._splitter.updating)
        if detail is not None:
            # A variable of the program that was found may be all of its data.
            is_found = detail["attempted_batch"] is not None
            if self._loader is not None and not (is_found and (self._loop is None or detail["where"] == "evaluation")):
                detail["attempted_batch"] = self._loader.last_size or None
            self._report_shortage({**detail, "limit_bytes": self._budget.bytes})
        self.finish("failed", f"{type(error).__name__}: {error}"[:500])


def distributed_models() -> list[Any]:
    """All DistributedDataParallel models of the process."""
    kind = sys.modules["torch"].nn.parallel.DistributedDataParallel
    return [item for item in gc.get_objects() if issubclass(type(item), kind)]


def given_seed() -> int | None:
    """The seed that was given for this training; None: the program has its own."""
    text = os.environ.get("BATCHSCOPE_SEED", "")
    return int(text) if text.isdecimal() and os.environ.get("BATCHSCOPE_SOCKET") else None


def use_seed() -> int | None:
    """Sets the random generators with the seed that was given, if there is one; returns it."""
    seed = given_seed()
    if seed is None:
        return None
    random.seed(seed)
    numpy: Any = sys.modules.get("numpy")
    torch: Any = sys.modules.get("torch")
    if hasattr(numpy, "random"):
        numpy.random.seed(seed % 2**32)
    if hasattr(torch, "manual_seed"):
        torch.manual_seed(seed)
    return seed


_current: Run | None = None


def start(
    name: str | None = None,
    config: dict[str, Any] | None = None,
    schedule: Callable[[int, int], int | None] | None = None,
) -> Run:
    """Starts reporting; the Run of a second call is that of the first one.

    `config` is stored with the run. `schedule(step, batch)` is called after every optimizer step, with the steps done
    and the present batch size, and returns the next size: the program's own schedule. Of several ranks only the first
    one calls it; a program that sets `loader.batch` itself does so on all of them.
    """
    global _current
    if _current is None:
        link = Link(os.environ.get("BATCHSCOPE_SOCKET") or None, os.environ.get("BATCHSCOPE_SPILL"))
        _current = Run(link, name, config or {}, schedule)
        use_seed()
        if _current.active:
            atexit.register(_current._at_exit)
    else:
        _current._say_more(name, config, schedule)
    return _current
