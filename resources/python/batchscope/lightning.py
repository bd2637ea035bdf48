# SPDX-License-Identifier: MIT
"""Attaches to a lightning Trainer."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from .division import Unknown, check_divided
from .evaluation import Evaluations
from .lightning_evaluation import ModuleEvaluation, ModuleEvaluationTrial
from .loader import Loader
from .logs import Logs
from .method import Method, Scaled, nothing
from .reasons import Reason
from .run import Run, given_seed
from .split import Splitter
from .values import known, series_of, settings_of_optimizer
from .window import Window


class ModuleMethod(Method):
    """The module's own training_step on micro batches and pieces of them."""

    clears_gradients = True

    def __init__(self, hook: Lightning, arguments: Any, optimizer: Any, batch_idx: int) -> None:
        trainer = hook.trainer
        self._hook = hook
        self._optimization = trainer.fit_loop.epoch_loop.automatic_optimization
        self._trainer = trainer
        self._arguments = arguments
        self._backward = self._optimization._make_backward_fn(optimizer)
        self._clears: Callable[[], None] | None = None
        if hook.number == 0 and not self._optimization._skip_backward:
            self._clears = lambda: self._zero_grad(optimizer, batch_idx)
        self._hides = False
        self._logs = hook.logs
        self.model = trainer.lightning_module
        self.wrapped = trainer.strategy.model
        self.extra: dict[str, Any] = {}

    def key(self) -> Any:
        return "lightning"

    def modules(self) -> list[Any]:
        return [self.model, *self._trainer._results.values()]

    def _zero_grad(self, optimizer: Any, batch_idx: int) -> None:
        self._optimization._on_before_zero_grad(optimizer)
        self._optimization._optimizer_zero_grad(batch_idx, optimizer)

    def snapshot(self) -> Callable[[], None]:
        results = self._trainer._results
        names = set(results)

        def undo() -> None:
            self._logs.forget()
            for name in set(results) - names:
                del results[name]

        return undo

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        undo = self.snapshot()
        self._hides = True
        try:
            with self._logs.silenced():
                yield
        finally:
            self._hides = False
            undo()

    def begins(self, number: int, parts: int) -> None:
        self._logs.begin(number)

    def ended(self, number: int, parts: int) -> None:
        self._logs.end()

    def run(self, part: Any, parts: int, scaled: Scaled) -> Any:
        trainer = self._trainer
        arguments = type(self._arguments)(self._arguments)
        arguments["batch"] = part
        trainer._results.batch, trainer._results.batch_size = part, None  # what self.log averages over
        self._hook.mark("forward")
        output = self._optimization._training_step(arguments)
        self._clear()
        if output.closure_loss is None:
            return None
        loss = (
            output.closure_loss if self._hook.is_own_size() else output.closure_loss * trainer.accumulate_grad_batches
        )
        root = scaled(loss)
        self._hook.mark("backward")
        if self._backward is not None:
            self._backward(root)
        self.extra = output.extra
        return loss.detach()

    def _clear(self) -> None:
        """After the first forward pass, as Lightning does it."""
        if self._clears is not None and not self._hides:
            self._clears()
            self._clears = None

    def part_weights(self, window: Window) -> list[float] | None:
        # Lightning divides each micro batch's loss by their number, also that of a short one and in a short window.
        return None if self._hook.is_own_size() else [float(size) for size in window.sizes]


def _missing(trainer: Any, module: Any) -> str:
    """Private parts of lightning that this version lacks."""
    fit_loop = trainer.fit_loop
    epoch_loop = fit_loop.epoch_loop
    private = (
        (fit_loop, "setup_data"),
        (fit_loop, "_combined_loader"),
        (fit_loop, "max_batches"),
        (epoch_loop, "_accumulated_batches_reached"),
        (epoch_loop.automatic_optimization, "_make_closure"),
        (epoch_loop.automatic_optimization, "_training_step"),
        (epoch_loop.automatic_optimization, "_optimizer_zero_grad"),
        (module, "_on_before_batch_transfer"),
        (trainer.strategy, "batch_to_device"),
        (_fit_loops(trainer), "_select_data_fetcher"),
    )
    return ", ".join(name for owner, name in private if not hasattr(owner, name))


def _why_not_lightning(trainer: Any, module: Any) -> Reason | None:
    """Why this Trainer can be watched only; None if its size can be steered."""
    missing = _missing(trainer, module)
    strategy = type(trainer.strategy).__name__
    several = f"several processes with {strategy}; with DDPStrategy their size can be changed"
    reasons = (
        (
            bool(missing),
            Reason(
                "old-version",
                f"this version of lightning has no {missing}",
                {"package": "lightning", "version": _version_of(trainer), "least": "2.6"},
            ),
        ),
        (not module.automatic_optimization, Reason("manual-optimization", "manual optimization")),
        (
            trainer.world_size > 1 and strategy != "DDPStrategy",
            Reason("strategy", several, {"class": strategy}),
        ),
        (trainer.num_nodes > 1, Reason("several-machines", "its ranks run on several machines")),
        (bool(trainer.overfit_batches), Reason("overfit-batches", "overfit_batches")),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _package_of(trainer: Any) -> str:
    """Where Lightning's own Trainer comes from, of which this one may be a subclass."""
    names = {kind.__module__.partition(".")[0] for kind in type(trainer).__mro__}
    return "lightning.pytorch" if "lightning" in names else "pytorch_lightning"


def _fit_loops(trainer: Any) -> Any:
    return importlib.import_module(_package_of(trainer) + ".loops.fit_loop")


def _version_of(trainer: Any) -> str:
    return str(importlib.import_module(_package_of(trainer)).__version__)


def _settings_of_lightning(trainer: Any) -> dict[str, Any]:
    """Those that matter for a batch size, under the names that those of a transformers.Trainer have."""
    precision = re.match(r"(bf)?(16|32|64)", str(trainer.precision))
    schedulers = [type(config.scheduler).__name__ for config in trainer.lr_scheduler_configs]
    own = os.environ.get("PL_GLOBAL_SEED", "")  # what seed_everything leaves
    seed = given_seed() if given_seed() is not None else int(own) if own.isdecimal() else None
    return known(
        {
            **(settings_of_optimizer(trainer.optimizers[0], begins=True) if trainer.optimizers else {}),
            "lr_scheduler_type": schedulers[0] if schedulers else None,
            "max_grad_norm": trainer.gradient_clip_val,
            "precision": f"{precision[1] or 'fp'}{precision[2]}" if precision else None,
            "seed": seed,
        }
    )


class _StockIterator:
    """Stands for the iterator of a CombinedLoader, of which Lightning asks for the length only."""

    def __init__(self, dataloader: Any, limit: Any) -> None:
        length = len(dataloader)
        self._length = length if limit is None else min(length, limit)
        self.limits = None

    def __len__(self) -> int:
        return int(self._length)

    def reset(self) -> None:
        """Nothing was begun."""


class Lightning:
    """Attached to one lightning Trainer: replaces methods of its loops while it fits, and calls them.

    The loops go on by micro batches, as they do alone; the loader only says which of them belong to a step.
    """

    def __init__(self, run: Run, trainer: Any, package: str) -> None:
        self.run = run
        self.trainer = trainer
        self.loader: Loader | None = None
        self.window: Window | None = None
        self.number = 0  # of the micro batch that is run, in its window
        self.logs = Logs(run)
        self.position: Any = None  # of a checkpoint
        self.validation_began = 0.0  # by the monotonic clock
        self._automatic = importlib.import_module(package + ".loops.optimization.automatic")
        self._fetcher_class = _fetcher_class(importlib.import_module(package + ".loops.fetchers"))
        self._replaced: list[tuple[Any, str, Any]] = []
        self._steps = 0
        self._accumulation = 1  # the program's own, at the present epoch
        self._changed = False  # the size was ever another one
        self._nested: Callable[[Any], Any] = lambda part: part
        self._losses: list[Any] = []  # of the window's micro batches
        self._evaluation = ModuleEvaluation(self)
        self._evaluations = Evaluations(run, self._evaluation)

    def replace(self, owner: Any, name: str, function: Any) -> Any:
        """Puts a function in the place of an instance's method; returns the method."""
        stock = getattr(owner, name)
        self._replaced.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, function)
        return stock

    def restore(self) -> None:
        """Puts all methods back."""
        for owner, name, value in reversed(self._replaced):
            delattr(owner, name) if value is None else setattr(owner, name, value)
        self._replaced.clear()

    def mark(self, phase: str) -> None:
        """For the list of allocations, if there is one."""
        tracer = self.run._tracer
        (tracer.mark if tracer else nothing)(phase)

    def setup(self, module: Any) -> None:
        """Before fit() does anything."""
        trainer, run = self.trainer, self.run
        fit_loop = trainer.fit_loop
        run._know_model(module)
        run._splitter = Splitter(run)  # what was learnt of another module does not hold for this one
        run.on_rates = "progress"
        self.loader, self.window = None, None
        self.stock_validation = self.replace(trainer.strategy, "validation_step", self._evaluate)
        self.logs.attach(self, module)
        if trainer.world_size == 1 and trainer.enable_validation:
            run._can_evaluate(ModuleEvaluationTrial(self, self._evaluation))
        reason = _why_not_lightning(trainer, module) or run._join_ranks(one_machine=True)
        if reason is not None:
            run._rank, run._world = trainer.global_rank, trainer.world_size
            run._link.spill.dropping = run._rank > 0
            run._describe(rank=run._rank, world=run._world)
            run._watch_only(reason)
            return
        epoch_loop = fit_loop.epoch_loop
        self._stock_setup = self.replace(fit_loop, "setup_data", self._setup_data)
        self._stock_closure = self.replace(epoch_loop.automatic_optimization, "_make_closure", self._make_closure)
        self._stock_reached = self.replace(epoch_loop, "_accumulated_batches_reached", self._window_is_complete)

    # ---- what is fetched ----

    def _setup_data(self) -> None:
        """Lightning's own, but for what fetches the batches."""
        fit_loop = self.trainer.fit_loop
        states = getattr(fit_loop, "_combined_loader_states_to_load", None)
        if states and isinstance(states[0], dict) and "seen_in_epoch" in states[0]:  # of an earlier version of this
            self.position, fit_loop._combined_loader_states_to_load = states[0], []
        module = _fit_loops(self.trainer)
        select = module._select_data_fetcher
        module._select_data_fetcher = lambda *args: self._fetcher() or select(*args)
        try:
            self._stock_setup()
        finally:
            module._select_data_fetcher = select

    def _fetcher(self) -> Any:
        """Fetches by the loader; None if Lightning has to fetch itself."""
        trainer, run = self.trainer, self.run
        combined = trainer.fit_loop._combined_loader
        try:
            if len(combined.flattened) != 1:
                raise Unknown(Reason("zipped-loaders", "it has several training data loaders"))
            dataloader = combined.flattened[0]
            check_divided(dataloader, run._ranks)
            loader = Loader(run, dataloader)
        except Unknown as unknown:
            self.loader = run._loader = None
            run._watch_only(unknown.reason)
            return None
        if "dataloader_iter" in _names_of_training_step(trainer):
            text = "training_step fetches its batches itself"
            run._watch_only(Reason("own-loop", text, {"methods": "training_step(dataloader_iter)"}))
            return None
        limit = combined.limits[0]
        if limit is not None and math.isfinite(limit):
            loader.limit(int(limit))
        combined._iterator = _StockIterator(dataloader, limit)
        self._nested = _nesting_of(combined)
        self._begin(loader)
        return self._fetcher_class(self)

    def _begin(self, loader: Loader) -> None:
        trainer, run = self.trainer, self.run
        self.loader = run._loader = loader
        loader.own_accumulate = self._accumulation = trainer.accumulate_grad_batches
        loader.accumulate = loader.own_accumulate
        steps = trainer.max_steps if trainer.max_steps > 0 else None
        run._describe(
            accumulate=loader.accumulate,
            epochs=None if steps else trainer.max_epochs,
            steps=steps,
            settings=_settings_of_lightning(trainer),
        )
        run._greet(wait=True)
        run._keep_size()
        if run._ranks is not None:
            run._share_orders()
        self._resume(loader)

    def _resume(self, loader: Loader) -> None:
        """Goes on at a checkpoint's position."""
        position, self.position = self.position, None
        trainer = self.trainer
        if position is not None:
            loader.load_state_dict(position)
            return
        epochs = trainer.current_epoch
        ready = trainer.fit_loop.epoch_loop.batch_progress.current.ready if trainer.fit_loop.restarting else 0
        seen = min(ready * loader.own_batch * loader._sharers, loader.examples)
        sizes = {"batch": loader.batch, "accumulate": loader.accumulate}
        state = {"epoch": epochs, "seen": epochs * loader.examples + seen, "seen_in_epoch": seen, **sizes}
        loader.load_state_dict(state)
        loader.begins_at_epoch = True
        loader.begins_anew = True  # as Lightning itself goes on in the middle of an epoch

    def begin_epoch(self) -> None:
        """An iterator over the training batches is made."""
        assert self.loader is not None
        self.window = None
        self.loader.leave_epoch()
        self.loader.open()

    def next_part(self) -> Any:
        """The next micro batch. Raises StopIteration at the end of the epoch."""
        loader = self.loader
        assert loader is not None
        if self.window is None or self.number + 1 >= len(self.window.sizes):
            self._follow_accumulation(loader)
            self.window = loader.begin_window()
            self.number = -1
            if self.window is None:
                raise StopIteration
            self.window.prepare = self._prepared
        part = self._nested(loader.fetch_part(self.window))
        self.number += 1
        self._follow_size(loader)
        return part

    def _follow_accumulation(self, loader: Loader) -> None:
        """The program may have a schedule of its own for it; what BatchScope asks for goes before."""
        trainer = self.trainer
        if trainer.accumulate_grad_batches != self._accumulation:
            before, self._accumulation = self._accumulation, trainer.accumulate_grad_batches
            if loader.accumulate == before:
                loader.accumulate = self._accumulation
            loader.own_accumulate = self._accumulation
        if loader.accumulate != trainer.accumulate_grad_batches:
            trainer.accumulate_grad_batches = self._accumulation = loader.accumulate

    def is_own_size(self) -> bool:
        """Whether windows are those of the program itself."""
        return not self._changed

    def _follow_size(self, loader: Loader) -> None:
        """From the first change on, an epoch has another number of batches than Lightning knows."""
        self._changed = self._changed or not loader.is_own or self.run._probe is not None
        if not self._changed:
            return
        fit_loop, trainer = self.trainer.fit_loop, self.trainer
        batch = loader.batch * loader._sharers
        left = loader.examples - loader.seen_in_epoch
        later = left // batch if loader.drop_last else -(-left // batch)
        window = self.window
        of_window = 0 if window is None else len(window.sizes) - self.number - 1
        ready = fit_loop.epoch_loop.batch_progress.current.ready
        fit_loop.max_batches = ready + 1 + of_window + later
        interval = trainer.val_check_interval
        if isinstance(interval, float):
            trainer.val_check_batch = math.inf if interval == 1.0 else max(1, int(loader.micro_batches * interval))

    def is_last(self) -> bool:
        """Whether the epoch ends with the micro batch that was just fetched."""
        assert self.loader is not None
        if self.window is not None and self.number + 1 < len(self.window.sizes):
            return False
        return not self.loader.promise()

    def _window_is_complete(self) -> bool:
        if self.window is None:
            return bool(self._stock_reached())
        return self.number + 1 >= len(self.window.sizes)

    def _prepared(self, part: Any) -> Any:
        """What Lightning does to a batch before it is run, for examples that were collated anew."""
        trainer = self.trainer
        part = trainer.precision_plugin.convert_input(self._nested(part))
        part = trainer.lightning_module._on_before_batch_transfer(part, dataloader_idx=0)
        return trainer.strategy.batch_to_device(part, dataloader_idx=0)

    # ---- steps ----

    def _make_closure(self, arguments: Any, optimizer: Any, batch_idx: int) -> Any:
        window = self.window
        if window is None or "batch" not in arguments:
            return self._stock_closure(arguments, optimizer, batch_idx)
        window.parts[self.number] = arguments["batch"]  # on its device
        method = ModuleMethod(self, arguments, optimizer, batch_idx)
        splitter, budget = self.run._splitter, self.run._budget

        def compute() -> Any:
            updating, splitter.updating = splitter.updating, False  # a closure of step()
            budget.limit_step()
            try:
                loss = splitter.run(window, method, self.number)
            finally:
                splitter.updating = updating
                if updating:
                    budget.begin_update()
                    self.mark("update")
            self._note_losses()
            return self._automatic.ClosureResult(
                closure_loss=loss if loss is None else self._of_last(loss), extra=method.extra
            )

        return self._automatic.Closure(step_fn=compute)

    def _note_losses(self) -> None:
        self._losses = self._losses[: self.number] if self.number else []
        self._losses = [*self._losses[: self.number + 1 - len(self.run._splitter.losses)], *self.run._splitter.losses]

    def _of_last(self, loss: Any) -> Any:
        """The loss of the micro batch, also if those before were run again."""
        losses = self.run._splitter.losses
        return losses[-1] if losses and self.run._ranks is None else loss

    def _evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """A batch of a validation: in smaller ones if memory is short."""
        return self._evaluations.run(*args, **kwargs)

    def stepped(self, outputs: Any) -> None:
        """After a micro batch."""
        run, trainer, loader = self.run, self.trainer, self.loader
        if trainer.global_step == self._steps:
            return  # of a window that goes on
        self._steps = trainer.global_step
        run._step = run._steps_before + max(0, trainer.global_step - 1)
        if loader is None:
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        else:
            loss = sum(self._losses) if self._losses else None
            if loss is not None and self.window is not None and self.is_own_size():
                loss = loss * (loader.accumulate / len(self.window.sizes))  # the mean of a short window, too
        run._step_done({} if loss is None else {"loss": loss})
        if run._stop:
            trainer.should_stop = True
            if run._save:
                trainer.save_checkpoint(os.path.join(trainer.default_root_dir, "batchscope-stop.ckpt"))

    def validated(self) -> None:
        """A validation is over."""
        if self.trainer.sanity_checking:
            return
        metrics = self.trainer.callback_metrics
        numbers = {series_of(key, float(value)): float(value) for key, value in metrics.items()}
        numbers["evaluation_seconds"] = time.monotonic() - self.validation_began
        self.run.event("evaluation", values=numbers)

    def started(self) -> None:
        """The first event of a training."""
        run, trainer = self.run, self.trainer
        run._look_at_device()  # its module is where it will be trained
        run._describe(settings=_settings_of_lightning(trainer))
        if trainer.optimizers:
            run._know_optimizer(trainer.optimizers[0])
        self._steps = trainer.global_step
        loader = self.loader
        if loader is not None and loader.begins_at_epoch:
            loader.epoch = trainer.current_epoch
            loader.seen = loader.epoch * loader.examples + loader.seen_in_epoch
        run._begin_training(trainer.global_step)
        run._changed = run._changed or trainer.global_step > 0

    def ended(self) -> None:
        """The training is over."""
        if self.loader is not None and self._changed:
            self.trainer.accumulate_grad_batches = self.loader.own_accumulate
        self.logs.leave()
        self.restore()


def _nesting_of(combined: Any) -> Callable[[Any], Any]:
    """Puts a batch of the one loader to where the program has it, such as in a dict of one loader."""
    from torch.utils._pytree import tree_unflatten

    spec = combined._spec
    return lambda part: tree_unflatten([part], spec)


def _names_of_training_step(trainer: Any) -> tuple[str, ...]:
    code = getattr(trainer.lightning_module.training_step, "__code__", None)
    return () if code is None else code.co_varnames[: code.co_argcount]


def _fetcher_class(fetchers: Any) -> Any:
    class Fetcher(fetchers._DataFetcher):  # type: ignore[misc]
        """Fetches by the loader, and asks it whether a batch was the last one of its epoch."""

        def __init__(self, owner: Lightning) -> None:
            super().__init__()
            self._owner = owner

        def __iter__(self) -> Any:
            self._owner.begin_epoch()
            self.iterator = iter(())
            self.reset()
            return self

        def __next__(self) -> Any:
            self._start_profiler()
            try:
                part = self._owner.next_part()
            except StopIteration:
                self.done = True
                raise
            finally:
                self._stop_profiler()
            self.fetched += 1
            self.done = self._owner.is_last()
            return part, self.fetched - 1, 0

        def reset(self) -> None:
            super().reset()
            self.length, self.done = None, False

    return Fetcher


def _fit_callback(hook: Lightning, lightning: Any) -> Any:
    class BatchScopeCallback(lightning.Callback):  # type: ignore[misc]
        """In front of all others."""

        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if stage == "fit":
                hook.setup(pl_module)

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            hook.started()

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            hook.stepped(outputs)

        def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
            hook.validation_began = time.monotonic()

        def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
            hook.validated()

        def state_dict(self) -> dict[str, Any]:
            return {} if hook.loader is None else {"position": hook.loader.state_dict()}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            hook.position = state.get("position")

        def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if stage == "fit":
                hook.ended()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            hook.ended()

    return BatchScopeCallback()


def attach_lightning(run: Run, trainer: Any) -> Lightning:
    """Called by attach()."""
    package = _package_of(trainer)
    lightning = importlib.import_module(package)
    hook = Lightning(run, trainer, package)
    trainer.callbacks.insert(0, _fit_callback(hook, lightning))
    run._describe(framework=f"lightning {lightning.__version__}")
    _ = run.stopping  # the Trainer ends by itself
    return hook
