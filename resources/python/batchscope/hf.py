# SPDX-License-Identifier: MIT
"""Attaches to a transformers.Trainer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from .estimator import estimate_trainer
from .loader import Loader, Window, why_not_divided
from .memory import is_out_of_memory
from .run import Run, only_level_1
from .split import Method, Piece, Splitter, evaluating, nothing
from .values import known, series_of, settings_of_optimizer

_ENDLESS = 2**31  # a length that an epoch never reaches; it ends when the loader says so


def version_of(package: Any) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", package.__version__)[:2])


class _Endless:
    """What the Trainer iterates over: windows, without a length that matters."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __len__(self) -> int:
        return _ENDLESS

    def __iter__(self) -> Iterator[Window]:
        self._loader._leave_epoch()
        self._loader.set_epoch(self._loader.epoch)
        return iter(self._loader)

    def set_epoch(self, epoch: int) -> None:
        """The loader counts epochs itself: the Trainer's own count starts again after a resume."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader.dataloader, name)


class _StockLength:
    """Stands for the stock loader where the Trainer computes its steps."""

    def __init__(self, loader: Loader) -> None:
        self.dataset = loader.dataset
        batch = loader.batch * loader._sharers
        self._length = loader.examples // batch if loader.drop_last else -(-loader.examples // batch)

    def __len__(self) -> int:
        return self._length


class _TrainerMethod(Method):
    """The Trainer's own training_step on micro batches and pieces of them."""

    key = "transformers"

    def __init__(self, hook: Transformers, model: Any, items: Any) -> None:
        self._hook = hook
        self.wrapped = model
        self._called = model if hook.run._ranks is None else hook.trainer.model
        self._items = items
        self.model = hook.trainer.model

    def rank_weight(self, window: Window) -> float:
        if self._items is not None and self._hook.counts_over_ranks():
            return 1.0  # the loss was divided by what all ranks have together
        return super().rank_weight(window)

    def backward(self, piece: Piece, parts: int) -> Any:
        trainer = self._hook.trainer
        trainer.current_gradient_accumulation_steps = parts
        tracer = self._hook.run._tracer
        if piece.divisor == 1.0 and tracer is None:
            return self._hook.stock["training_step"](self._called, piece.part, self._items)
        mark = tracer.mark if tracer else nothing
        backward = trainer.accelerator.backward

        def divided(loss: Any, **kwargs: Any) -> Any:
            mark("backward")
            return backward(loss / piece.divisor if piece.divisor != 1.0 else loss, **kwargs)

        trainer.accelerator.backward = divided
        mark("forward")
        try:
            return self._hook.stock["training_step"](self._called, piece.part, self._items) / piece.divisor
        finally:
            del trainer.accelerator.backward

    def measure(self, part: Any) -> float:
        return self.loss(part, self._items)

    def loss(self, part: Any, items: Any) -> float:
        trainer = self._hook.trainer
        inputs = trainer._prepare_inputs(part)
        with trainer.compute_loss_context_manager():
            return float(trainer.compute_loss(self._called, inputs, num_items_in_batch=items))


def _why_not_transformers(trainer: Any) -> str | None:
    """Why this Trainer can be watched only; None if its size can be steered."""
    import transformers

    args = trainer.args
    strategy = str(getattr(args, "train_sampling_strategy", "") or "")
    own_loop = [
        name
        for name in ("_inner_training_loop", "get_batch_samples", "_run_epoch")
        if overrides(trainer, name, transformers.Trainer)
    ]
    reasons = (
        (version_of(transformers) < (4, 57), f"transformers {transformers.__version__} is older than 4.57"),
        (args.n_gpu > 1, "DataParallel over several GPUs"),
        (trainer.is_deepspeed_enabled, "DeepSpeed"),
        (trainer.is_fsdp_enabled, "FSDP"),
        (
            bool(getattr(args, "group_by_length", False)) or "group" in strategy or "rebalance" in strategy,
            "batches grouped by length",
        ),
        (str(args.optim).split(".")[-1].lower() in ("lomo", "adalomo"), "an optimizer that steps in backward"),
        (bool(own_loop), f"the Trainer has its own {', '.join(own_loop)}"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _why_not_ranks_of(trainer: Any) -> str | None:
    """Why the processes of this Trainer cannot be steered together; None if they can be."""
    args, accelerator = trainer.args, trainer.accelerator
    reasons = (
        (getattr(accelerator, "parallelism_config", None) is not None, "processes that share the examples"),
        (bool(accelerator.split_batches), "split_batches"),
        (bool(accelerator.dispatch_batches), "dispatch_batches"),
        (str(args.include_num_input_tokens_seen) not in ("no", "False"), "include_num_input_tokens_seen"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def overrides(instance: Any, name: str, base: type) -> bool:
    own, stock = getattr(type(instance), name, None), getattr(base, name, None)
    return own is not None and stock is not None and own is not stock


def _settings_of_transformers(trainer: Any) -> dict[str, Any]:
    """Those that matter for a batch size, most of them under the names of TrainingArguments."""
    args = trainer.args
    ratio = args.warmup_steps if 0 < args.warmup_steps < 1 else getattr(args, "warmup_ratio", None)
    settings = {
        "learning_rate": args.learning_rate,
        "lr_scheduler_type": text_of(args.lr_scheduler_type),
        **({"warmup_ratio": ratio} if ratio and args.warmup_steps < 1 else {"warmup_steps": int(args.warmup_steps)}),
        "optimizer": text_of(args.optim),
        "weight_decay": args.weight_decay,
        "max_grad_norm": args.max_grad_norm,
        "label_smoothing": args.label_smoothing_factor,
        "precision": "bf16" if args.bf16 else "fp16" if args.fp16 else "fp32",
        "gradient_checkpointing": bool(args.gradient_checkpointing),
        "seed": args.seed,
    }
    if trainer.optimizer is not None:  # made by the program
        settings.update(settings_of_optimizer(trainer.optimizer, begins=True))
    if trainer.lr_scheduler is not None:
        settings.update(lr_scheduler_type=type(trainer.lr_scheduler).__name__, warmup_steps=None, warmup_ratio=None)
    return known(settings)


def text_of(value: Any) -> str:
    """A text, or the one of an enumeration."""
    return str(getattr(value, "value", value))


class Transformers:
    """Attached to one transformers.Trainer: replaces methods of that instance, and calls them."""

    def __init__(self, run: Run, trainer: Any) -> None:
        self.run = run
        self.trainer = trainer
        self.stock: dict[str, Any] = {}
        self.loader: Loader | None = None
        self.loss: Any = None
        self.grad_norm: Any = None
        self._own_sizes = (0, 0)  # the program's own batch and accumulation
        self._first = (0, 0)  # those that the rate schedule was made for
        self._changed = False  # whether the size was ever another one
        self._epochs = 0.0
        self._stock_epochs = 0
        self._schedule_steps = 0
        self._own_args: dict[str, Any] = {}
        self._checked_scale = False

    # ---- methods of the Trainer ----

    def replace(self, name: str) -> None:
        self.stock[name] = getattr(self.trainer, name)
        setattr(self.trainer, name, getattr(self, name))

    def get_train_dataloader(self) -> Any:
        dataloader = self.stock["get_train_dataloader"]()
        try:
            reason = why_not_divided(dataloader, self.run._ranks)
            if reason is not None:
                raise TypeError(reason)
            loader = Loader(self.run, dataloader)
        except TypeError as error:
            self.loader = self.run._loader = self.run._ranks = None
            self.run._describe()
            only_level_1(self.run, str(error))
            return dataloader
        self._restore_args()
        args = self.trainer.args
        self.run._splitter = Splitter(self.run)  # what was learnt of another model does not hold for this one
        self.loader = self.run._loader = loader
        loader.batch, loader.accumulate = self.trainer._train_batch_size, args.gradient_accumulation_steps
        self._own_sizes = loader.batch, loader.accumulate
        self.run._know_model(self.trainer.model)
        self.run._describe(
            batch=loader.batch,
            accumulate=loader.accumulate,
            epochs=None if args.max_steps > 0 else args.num_train_epochs,
            steps=args.max_steps if args.max_steps > 0 else None,
        )
        self.run._greet(wait=True)
        self.run._keep_size()
        if self.run._ranks is not None:
            self.run._share_orders()
        self._first = loader.batch, loader.accumulate
        self._changed = False
        return _Endless(loader)

    def set_initial_training_values(self, args: Any, dataloader: Any, *rest: Any) -> Any:
        if not isinstance(dataloader, _Endless):
            return self.stock["set_initial_training_values"](args, dataloader, *rest)
        trainer, loader = self.trainer, self.loader
        self._own_args = {
            "gradient_accumulation_steps": args.gradient_accumulation_steps,
            "ignore_data_skip": args.ignore_data_skip,
        }
        args.gradient_accumulation_steps = loader.accumulate
        trainer._train_batch_size = loader.batch
        rest = tuple(trainer.get_total_train_batch_size(args) for _ in rest)
        values = list(self.stock["set_initial_training_values"](args, _StockLength(loader), *rest))
        self._stock_epochs = values[0]
        self._epochs = math.inf if args.max_steps > 0 else float(args.num_train_epochs)
        values[0], values[1], values[5] = _ENDLESS, _ENDLESS, _ENDLESS
        args.gradient_accumulation_steps = 1  # a window is one training_step
        args.ignore_data_skip = True  # the loader knows its position
        return tuple(values)

    def _restore_args(self) -> None:
        for name, value in self._own_args.items():
            setattr(self.trainer.args, name, value)
        self._own_args = {}

    def create_scheduler(self, num_training_steps: int, *args: Any, **kwargs: Any) -> Any:
        self._schedule_steps = num_training_steps
        return self.stock["create_scheduler"](num_training_steps, *args, **kwargs)

    def get_batch_samples(self, iterator: Any, count: int, *rest: Any) -> Any:
        if self.loader is None:
            return self.stock["get_batch_samples"](iterator, count, *rest)
        window = next(iterator, None)
        if window is None:
            return [], None
        if self.run._ranks is not None:
            return [window], self._items_of_ranks(window, *rest)
        _, items = self.stock["get_batch_samples"](iter(window.parts), len(window.parts), *rest)
        return [window], items

    def counts_over_ranks(self) -> bool:
        """Whether a loss is divided by the number of labels of all ranks, and not of its own."""
        trainer = self.trainer
        return bool(
            trainer.args.average_tokens_across_devices
            and (trainer.model_accepts_loss_kwargs or trainer.compute_loss_func)
        )

    def _items_of_ranks(self, window: Window, *rest: Any) -> Any:
        """The Trainer's count of labels. It would ask all ranks itself, but not one that has no example."""
        args = self.trainer.args
        over_ranks = args.average_tokens_across_devices
        args.average_tokens_across_devices = False
        try:
            _, items = self.stock["get_batch_samples"](iter(window.parts), len(window.parts), *rest)
        finally:
            args.average_tokens_across_devices = over_ranks
        if not over_ranks:
            return items
        answers = self.run._ranks.gather([items is not None, 0.0 if items is None else float(items)])
        if not any(counted for counted, _ in answers):
            return None
        import torch

        return torch.tensor(sum(count for _, count in answers), dtype=torch.float32, device=args.device)

    def training_step(self, model: Any, inputs: Any, *rest: Any, **kwargs: Any) -> Any:
        if not isinstance(inputs, Window):
            loss = self.stock["training_step"](model, inputs, *rest, **kwargs)
            self.loss = loss if self.loss is None else self.loss + loss
            return loss
        items = rest[0] if rest else kwargs.get("num_items_in_batch")
        method = _TrainerMethod(self, model, items)
        factor = len(inputs.parts)
        if self.run._ranks is not None and self.counts_over_ranks():
            factor *= self.run._ranks.size
        if not self._checked_scale and inputs.parts and factor > 1 and items is not None:
            self._check_scale(method, inputs, factor)
        self.loss = self.run._splitter.run(inputs, method)
        return self.loss

    def floating_point_ops(self, inputs: Any) -> Any:
        parts = inputs.parts if isinstance(inputs, Window) else [inputs]
        return sum(self.stock["floating_point_ops"](part) for part in parts)

    def _track_num_input_tokens(self, inputs: Any) -> None:
        for part in inputs.parts if isinstance(inputs, Window) else [inputs]:
            self.stock["_track_num_input_tokens"](part)

    def _check_scale(self, method: _TrainerMethod, window: Window, factor: int) -> None:
        """Tells of a head that takes the count of labels and ignores it: its gradients grow with accumulation."""
        self._checked_scale = True
        if not self.run.active:
            return
        try:
            with evaluating(method.model):
                one, two = (method.loss(window.parts[0], method._items * times) for times in (1, 2))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            return
        if one == two and one != 0 and self.trainer.model_accepts_loss_kwargs:
            self.run.event(
                "loss-scale",
                factor=factor,
                text="the model ignores num_items_in_batch: gradients are too large by this factor",
            )

    # ---- moments of the training ----

    def began(self, state: Any, control: Any, name: str) -> None:
        run, loader = self.run, self.loader
        run._know_model(self.trainer.model)
        run._know_optimizer(self.trainer.optimizer)
        if loader is None:
            run._begin_training(state.global_step)
            return
        state.num_train_epochs = self._stock_epochs
        if state.global_step > 0:  # resumed
            self._resume(state.global_step, (state.stateful_callbacks or {}).get(name))
        run._begin_training(state.global_step)
        state.stateful_callbacks[name] = self.position()
        run._changed = run._changed or state.global_step > 0

    def _resume(self, steps: int, saved: Any) -> None:
        """Goes on at the checkpoint's position; for one made without BatchScope, at the one its steps amount to."""
        loader = self.loader
        saved = saved[-1] if isinstance(saved, list) and saved else saved
        attributes = saved.get("attributes", {}) if isinstance(saved, dict) else {}
        if attributes.get("loader"):
            self._changed = attributes["changed"]
            own = {} if self._changed else {"batch": loader.batch, "accumulate": loader.accumulate}
            loader.load_state_dict({**attributes["loader"], **own})  # an unchanged size is the program's: of today
            if self._changed:
                self._first = tuple(attributes["first"])
            self.run._splitter.limit = attributes["limit"]
            self.run._splitter._mean_over.update(attributes["mean_over"])
            return
        sizes = {"batch": loader.batch, "accumulate": loader.accumulate}
        loader.batch, loader.accumulate = self._own_sizes  # those of the steps that were made
        epoch, windows = divmod(steps, max(1, len(loader)))
        seen = min(windows * loader.batch * loader.accumulate * loader._sharers, loader.examples)
        loader.load_state_dict({"epoch": epoch, "seen": epoch * loader.examples + seen, "seen_in_epoch": seen, **sizes})

    def position(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        splitter = self.run._splitter
        return {
            "args": {},
            "attributes": {}
            if self.loader is None
            else {
                "loader": self.loader.state_dict(),
                "first": list(self._first),
                "changed": self._changed,
                "limit": splitter.limit,
                "mean_over": {key: name for key, name in splitter._mean_over.items() if isinstance(key, str)},
            },
        }

    def stepped(self, state: Any, control: Any) -> None:
        run, loader = self.run, self.loader
        run._step = run._steps_before + state.global_step - 1
        values = {"loss": self.loss, "grad_norm": self.grad_norm}
        self.loss = None
        if loader is None:
            args = self.trainer.args
            batch, accumulate = self.trainer._train_batch_size, args.gradient_accumulation_steps
            values.update(batch=batch, accumulate=accumulate, effective_batch=batch * accumulate * args.world_size)
        run._step_done({name: value for name, value in values.items() if value is not None})
        if loader is not None:
            through = loader.through
            place = loader.epoch + (1.0 if through else loader.seen_in_epoch / loader.examples)
            state.epoch = place
            control.should_epoch_stop = control.should_epoch_stop or through
            self._follow_size(state, place, through)
        if run._stop:
            control.should_training_stop = True
            control.should_save = control.should_save or run._save

    def _follow_size(self, state: Any, place: float, through: bool) -> None:
        """From the first change of the size on, training ends with its examples and the rate follows progress."""
        loader = self.loader
        self._changed = self._changed or (loader.batch, loader.accumulate) != self._first
        if not self._changed or math.isinf(self._epochs):
            return
        state.max_steps = state.global_step + self._steps_left(through)
        schedule = self.trainer.lr_scheduler
        import torch

        if isinstance(schedule, torch.optim.lr_scheduler.LambdaLR):
            done = state.global_step >= state.max_steps
            progress = 1.0 if done else min(1.0, place / self._epochs)
            schedule.last_epoch = progress * self._schedule_steps - 1
            schedule.step()

    def _steps_left(self, through: bool) -> int:
        loader = self.loader
        last = math.ceil(self._epochs)  # epochs, the last of them perhaps in part
        in_last = math.ceil((self._epochs - (last - 1)) * loader.examples)
        epoch, seen = (loader.epoch + 1, 0) if through else (loader.epoch, loader.seen_in_epoch)
        if epoch >= last:
            return 0
        if epoch == last - 1:
            return loader._windows(max(0, in_last - seen))
        return loader._windows(loader.examples - seen) + (last - epoch - 2) * len(loader) + loader._windows(in_last)


def attach_transformers(run: Run, trainer: Any) -> Any:
    import transformers
    from transformers.trainer_callback import ExportableState, TrainerCallback

    hook = Transformers(run, trainer)

    class BatchScopeCallback(TrainerCallback, ExportableState):
        """In front of all others, so that they see the epoch and the steps of the present size."""

        def state(self) -> dict[str, Any]:
            return hook.position()

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            callbacks = trainer.callback_handler.callbacks
            callbacks.insert(0, callbacks.pop(callbacks.index(self)))  # a restored one comes last
            hook.began(state, control, type(self).__name__)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            hook.stepped(state, control)

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any) -> None:
            values = {
                series_of(name, value): value
                for name, value in (metrics or {}).items()
                if isinstance(value, (int, float)) and name != "epoch"
            }
            values["evaluation_seconds"] = sum(value for name, value in values.items() if name.endswith("_runtime"))
            run.event("evaluation", values=values)

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            hook._restore_args()

    trainer.callback_handler.callbacks.insert(0, BatchScopeCallback())
    run._describe(
        framework=f"transformers {transformers.__version__}",
        settings=_settings_of_transformers(trainer),
        batch=trainer.args.train_batch_size,
        accumulate=trainer.args.gradient_accumulation_steps,
    )
    _ = run.stopping  # the Trainer ends by itself
    clip = trainer.accelerator.clip_grad_norm_

    def clip_grad_norm(*args: Any, **kwargs: Any) -> Any:
        hook.grad_norm = clip(*args, **kwargs)
        return hook.grad_norm

    trainer.accelerator.clip_grad_norm_ = clip_grad_norm
    reason = _why_not_transformers(trainer)
    if reason is None and trainer.args.world_size > 1:
        reason = _why_not_ranks_of(trainer) or run._join_ranks()
    elif reason is None and run._world > 1:
        reason = f"{run._world} processes train each for itself (on the CPU, a Trainer needs use_cpu for more)"
    if reason is not None:
        hook.replace("training_step")
        only_level_1(run, reason)
        return hook
    if trainer.args.auto_find_batch_size:
        trainer.args.auto_find_batch_size = False
        run.event("lint", text="auto_find_batch_size is switched off: it restarts at step 0 with the trained weights")
    if getattr(trainer.args, "torch_compile", False):
        run.event("lint", text="torch.compile compiles again when the batch size changes")
    for name in (
        "get_train_dataloader",
        "set_initial_training_values",
        "create_scheduler",
        "get_batch_samples",
        "training_step",
        "floating_point_ops",
        "_track_num_input_tokens",
    ):
        if hasattr(trainer, name):
            hook.replace(name)
    run._describe(can=("estimate",))
    run._estimator = lambda batches: estimate_trainer(trainer, batches)
    return hook
