# SPDX-License-Identifier: MIT
"""Attaches to a lightning Trainer."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator
from typing import Any, Callable

from .hf import only_level_1
from .loader import Loader, Window, why_not_divided
from .run import Run, given_seed
from .split import Method, Piece, Splitter, nothing
from .values import known, series_of, settings_of_optimizer


class _LightningLoader:
    """What Lightning takes for the training loader."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._checked = False

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Window]:
        if not self._checked:  # Lightning only looks whether it can be iterated over
            self._checked = True
            return iter(())
        return iter(self._loader)

    @property
    def worker_init_fn(self) -> Any:
        return self._loader.dataloader.worker_init_fn

    @worker_init_fn.setter
    def worker_init_fn(self, function: Any) -> None:
        self._loader.dataloader.worker_init_fn = function

    @property
    def sampler(self) -> Any:
        return self._loader.sampler

    @property
    def dataset(self) -> Any:
        return self._loader.dataset

    def state_dict(self) -> dict[str, Any]:
        return self._loader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._loader.load_state_dict(state)


class _LightningMethod(Method):
    """The module's own training_step on micro batches and pieces of them."""

    key = "lightning"

    def __init__(
        self, trainer: Any, arguments: Any, backward: Any, mark: Callable[[str], None], divisor: int | None
    ) -> None:
        self._trainer = trainer
        self._arguments = arguments
        self._divisor = divisor  # of each micro batch's loss; None: by their sizes
        self._backward = backward
        self.mark = mark
        self.model = trainer.lightning_module
        self.wrapped = trainer.strategy.model
        self.extra: dict[str, Any] = {}

    def _output(self, part: Any) -> Any:
        trainer = self._trainer
        arguments = type(self._arguments)(self._arguments)
        arguments["batch"] = part
        trainer._results.batch, trainer._results.batch_size = part, None  # what self.log averages over
        return trainer.fit_loop.epoch_loop.automatic_optimization._training_step(arguments)

    def backward(self, piece: Piece, parts: int) -> Any:
        self.mark("forward")
        output = self._output(piece.part)
        if output.closure_loss is None:
            return None
        self.mark("backward")
        divisor = piece.divisor * (self._divisor or 1)
        loss = output.closure_loss if divisor == 1.0 else output.closure_loss / divisor
        self._backward(loss)
        self.extra = output.extra
        return loss.detach()

    def measure(self, part: Any) -> float:
        module = self.model
        hidden = {name: vars(module).get(name) for name in ("log", "log_dict")}
        try:
            for name in hidden:
                setattr(module, name, lambda *args, **kwargs: None)
            return float(self._output(part).closure_loss)
        finally:
            for name, value in hidden.items():
                delattr(module, name) if value is None else setattr(module, name, value)

    def part_weights(self, window: Window) -> list[float] | None:
        return None if self._divisor else [float(size) for size in window.sizes]


def _why_not_lightning(trainer: Any, module: Any) -> str | None:
    """Why this Trainer can be watched only; None if its size can be steered."""
    fit_loop = trainer.fit_loop
    private = (
        (fit_loop, "setup_data"),
        (fit_loop, "_data_source"),
        (fit_loop, "_data_fetcher"),
        (fit_loop, "max_batches"),
        (fit_loop.epoch_loop.automatic_optimization, "_make_closure"),
        (fit_loop.epoch_loop.automatic_optimization, "_training_step"),
        (module, "_on_before_batch_transfer"),
        (trainer.strategy, "batch_to_device"),
        (trainer._data_connector, "_prepare_dataloader"),
    )
    missing = [name for owner, name in private if not hasattr(owner, name)]
    limit = trainer.limit_train_batches
    schedules = [c.scheduling for c in trainer.callbacks if type(c).__name__ == "GradientAccumulationScheduler"]
    reasons = (
        (bool(missing), f"this version of lightning has no {', '.join(missing)}"),
        (not module.automatic_optimization, "manual optimization"),
        (
            trainer.world_size > 1 and type(trainer.strategy).__name__ != "DDPStrategy",
            f"several processes with {type(trainer.strategy).__name__}; with DDPStrategy their size can be changed",
        ),
        (trainer.num_nodes > 1, "its ranks run on several machines"),
        (not (isinstance(limit, float) and limit == 1.0), "limit_train_batches"),
        (bool(trainer.overfit_batches), "overfit_batches"),
        (any(len(schedule) > 1 for schedule in schedules), "its own schedule of accumulate_grad_batches"),
    )
    return next((reason for holds, reason in reasons if holds), None)


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


class Lightning:
    """Attached to one lightning Trainer: replaces methods of its loops while it fits, and calls them."""

    def __init__(self, run: Run, trainer: Any, fetcher: Any, closure: Any, result: Any) -> None:
        self.run = run
        self.trainer = trainer
        self.loader: Loader | None = None
        self._fetcher_class = fetcher
        self._closure_class = closure
        self._result_class = result
        self._replaced: list[tuple[Any, str, Any]] = []
        self._first = (0, 0)
        self._told_rate = self._told_log = False
        self._steps = 0
        self.validation_began = 0.0  # by the monotonic clock

    def replace(self, owner: Any, name: str, function: Any) -> Any:
        """Puts a function in the place of an instance's method; returns the method."""
        stock = getattr(owner, name)
        self._replaced.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, function)
        return stock

    def restore(self) -> None:
        for owner, name, value in reversed(self._replaced):
            delattr(owner, name) if value is None else setattr(owner, name, value)
        self._replaced.clear()

    def setup(self, module: Any) -> None:
        trainer, run = self.trainer, self.run
        fit_loop = trainer.fit_loop
        run._know_model(module)
        run._splitter = Splitter(run)  # what was learnt of another module does not hold for this one
        reason = _why_not_lightning(trainer, module) or run._join_ranks(one_machine=True)
        if reason is not None:
            run._rank, run._world = trainer.global_rank, trainer.world_size
            run._link.spill.dropping = run._rank > 0
            run._describe(rank=run._rank, world=run._world)
            only_level_1(run, reason)
            return
        if run._ranks is not None:
            self._stock_log = self.replace(module, "log", self.log)
        optimization = fit_loop.epoch_loop.automatic_optimization
        self._stock_loader = self.replace(fit_loop._data_source, "dataloader", self.dataloader)
        self._stock_setup = self.replace(fit_loop, "setup_data", self.setup_data)
        self._stock_closure = self.replace(optimization, "_make_closure", self.make_closure)
        for owner, name in (
            (trainer.precision_plugin, "convert_input"),
            (module, "_on_before_batch_transfer"),
            (trainer.strategy, "batch_to_device"),
        ):
            self._for_each_part(owner, name)

    def _for_each_part(self, owner: Any, name: str) -> None:
        def for_each(batch: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(batch, Window):
                return stock(batch, *args, **kwargs)
            batch.parts = [stock(part, *args, **kwargs) for part in batch.parts]
            return batch

        stock = self.replace(owner, name, for_each)

    def log(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """A mean over the ranks would wait for ever where one runs more pieces than another."""
        if kwargs.get("sync_dist") and self.trainer.lightning_module._current_fx_name == "training_step":
            kwargs["sync_dist"] = False
            if not self._told_log and self.run._rank == 0:
                self._told_log = True
                self.run.event("lint", text="self.log in training_step: each rank logs its own value, not the mean")
        return self._stock_log(name, value, *args, **kwargs)

    def dataloader(self) -> Any:
        trainer, run = self.trainer, self.run
        dataloader = self._stock_loader()
        try:
            if run._ranks is not None:  # with the sampler that Lightning would set later
                dataloader = trainer._data_connector._prepare_dataloader(dataloader, True, trainer.state.stage)
            reason = why_not_divided(dataloader, run._ranks)
            if reason is not None:
                raise TypeError(reason)
            loader = Loader(run, dataloader)
        except TypeError as error:
            run._ranks = None
            run._describe()
            only_level_1(run, str(error))
            return dataloader
        self.loader = run._loader = loader
        loader.accumulate = trainer.accumulate_grad_batches
        self._one_window_a_step()
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
        self._first = loader.batch, loader.accumulate
        return _LightningLoader(loader)

    def _one_window_a_step(self) -> None:
        self._accumulation = self.trainer.accumulate_grad_batches
        self.trainer.accumulate_grad_batches = 1
        for callback in self.trainer.callbacks:
            if type(callback).__name__ == "GradientAccumulationScheduler":
                self._replaced.append((callback, "scheduling", callback.scheduling))
                callback.scheduling = {0: 1}

    def setup_data(self) -> None:
        """Lightning's own, then a fetcher that fetches nothing ahead."""
        self._stock_setup()
        fit_loop = self.trainer.fit_loop
        fetcher = fit_loop._data_fetcher
        if self.loader is None or fetcher is None or isinstance(fetcher, self._fetcher_class):
            return
        own = self._fetcher_class(self)
        own._combined_loader, own.iterator = fetcher._combined_loader, fetcher.iterator
        own.reset()
        fit_loop._data_fetcher = own
        own._combined_loader.limits = None
        if own._combined_loader._iterator is not None:
            own._combined_loader._iterator.limits = None
        if isinstance(self.trainer.val_check_interval, float) and self.trainer.val_check_interval == 1.0:
            self.trainer.val_check_batch = math.inf  # at the real end of an epoch

    def resume(self) -> None:
        """Lightning leaves a checkpoint's position out if the loader was made before the checkpoint was read."""
        fit_loop = self.trainer.fit_loop
        if (
            self.loader is not None
            and getattr(fit_loop, "_combined_loader_states_to_load", None)
            and fit_loop.restarting
        ):
            fit_loop._load_combined_loader_states()
            iter(fit_loop._data_fetcher)
        elif self.loader is not None and self.loader.seen == 0:  # begun, or resumed without a position
            epochs, loader = self.trainer.current_epoch, self.loader
            loader.load_state_dict(
                {
                    "epoch": epochs,
                    "seen": epochs * loader.examples,
                    "seen_in_epoch": 0,
                    "batch": loader.batch,
                    "accumulate": loader.accumulate,
                }
            )

    def fetched(self) -> bool:
        """Called after each fetch; returns whether that was the epoch's last window."""
        loader, fit_loop = self.loader, self.trainer.fit_loop
        more = loader._promise()
        left = loader._windows(loader.examples - loader.seen_in_epoch) if more else 0
        fit_loop.max_batches = fit_loop.epoch_loop.batch_progress.current.ready + 1 + left
        return not more

    def make_closure(self, arguments: Any, optimizer: Any, batch_idx: int) -> Any:
        window = arguments.get("batch")
        if not isinstance(window, Window):
            return self._stock_closure(arguments, optimizer, batch_idx)
        optimization = self.trainer.fit_loop.epoch_loop.automatic_optimization
        zero_grad = optimization._make_zero_grad_fn(batch_idx, optimizer)
        backward = optimization._make_backward_fn(optimizer) or nothing
        tracer = self.run._tracer
        # Lightning divides each micro batch's loss by their number, also that of a short one and in a short window.
        own = (self.loader.batch, self.loader.accumulate) == self._first
        divisor = self.loader.accumulate if own else None
        method = _LightningMethod(self.trainer, arguments, backward, tracer.mark if tracer else nothing, divisor)

        def compute() -> Any:
            if zero_grad is not None:
                zero_grad()
            updating, self.run._splitter.updating = self.run._splitter.updating, False  # a closure of step()
            self.run._budget.limit_step()
            try:
                loss = self.run._splitter.run(window, method)
            finally:
                self.run._splitter.updating = updating
                if updating:
                    self.run._budget.begin_update()
                    method.mark("update")
            if divisor is not None and loss is not None and len(window.parts) != divisor:
                loss = loss * (divisor / len(window.parts))  # as it is reported: the mean
            return self._result_class(closure_loss=loss, extra=method.extra)

        return self._closure_class(step_fn=compute)

    def stepped(self, outputs: Any) -> None:
        run, trainer = self.run, self.trainer
        if trainer.global_step == self._steps and self.loader is None:
            return  # a micro batch of a longer accumulation
        self._steps = trainer.global_step
        run._step = run._steps_before + max(0, trainer.global_step - 1)
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        run._step_done({} if loss is None else {"loss": loss})
        loader = self.loader
        by_steps = any(config.interval == "step" for config in trainer.lr_scheduler_configs)
        if loader is not None and by_steps and not self._told_rate and (loader.batch, loader.accumulate) != self._first:
            self._told_rate = True
            run.event("rate-by-steps", text="the program's own rate scheduler goes on counting steps")
        if run._stop:
            trainer.should_stop = True
            if run._save:
                trainer.save_checkpoint(os.path.join(trainer.default_root_dir, "batchscope-stop.ckpt"))

    def ended(self) -> None:
        if self.loader is not None:
            self.trainer.accumulate_grad_batches = self._accumulation
        self.restore()


def attach_lightning(run: Run, trainer: Any) -> Any:
    import importlib

    package = "lightning.pytorch" if type(trainer).__module__.startswith("lightning.") else "pytorch_lightning"
    lightning = importlib.import_module(package)
    automatic = importlib.import_module(package + ".loops.optimization.automatic")
    fetchers = importlib.import_module(package + ".loops.fetchers")

    class Fetcher(fetchers._DataFetcher):
        """Fetches nothing ahead, and asks the loader whether a window was the last one."""

        def __init__(self, owner: Lightning) -> None:
            super().__init__()
            self._owner = owner

        def __next__(self) -> Any:
            batch = super().__next__()
            self.done = self._owner.fetched()
            return batch

        def reset(self) -> None:
            super().reset()
            self.length, self.done = None, False

    hook = Lightning(run, trainer, Fetcher, automatic.Closure, automatic.ClosureResult)

    class BatchScopeCallback(lightning.Callback):
        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if stage == "fit":
                hook.setup(pl_module)

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            hook.resume()
            run._describe(settings=_settings_of_lightning(trainer))
            if trainer.optimizers:
                run._know_optimizer(trainer.optimizers[0])
            hook._steps = trainer.global_step
            run._begin_training(trainer.global_step)
            run._changed = run._changed or trainer.global_step > 0

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            hook.stepped(outputs)

        def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
            hook.validation_began = time.monotonic()

        def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
            if trainer.sanity_checking:
                return
            numbers = {series_of(key, float(value)): float(value) for key, value in trainer.callback_metrics.items()}
            numbers["evaluation_seconds"] = time.monotonic() - hook.validation_began
            run.event("evaluation", values=numbers)

        def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if stage == "fit":
                hook.ended()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            hook.ended()

    trainer.callbacks.insert(0, BatchScopeCallback())
    run._describe(framework=f"lightning {lightning.__version__}")
    _ = run.stopping  # the Trainer ends by itself
    return hook
