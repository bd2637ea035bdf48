# SPDX-License-Identifier: MIT
"""Attaches to a transformers.Trainer."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from typing import Any

from .division import Unknown, check_divided
from .estimator import estimate_trainer
from .evaluation import Evaluations
from .hf_evaluation import TrainerEvaluation, TrainerEvaluationTrial
from .loader import Epoch, Loader
from .memory import is_out_of_memory
from .method import Method, Scaled, nothing
from .parts import cut
from .prover import loss_of
from .reasons import Reason
from .run import Run
from .seen_args import LoopArguments
from .split import Splitter
from .state import unchanged
from .values import known, series_of, settings_of_optimizer
from .window import Window

_ENDLESS = 2**31  # a length that an epoch never reaches; it ends when the loader says so


def version_of(package: Any) -> tuple[int, ...]:
    """Major and minor number."""
    return tuple(int(number) for number in re.findall(r"\d+", package.__version__)[:2])


class _Endless:
    """What the Trainer's loop iterates over: windows, without a length that matters to it."""

    def __init__(self, loader: Loader, loop: LoopArguments) -> None:
        self._loader = loader
        self._loop = loop

    def __len__(self) -> int:
        return _ENDLESS if self._loop.is_asking() else self._loader.micro_batches

    def __iter__(self) -> Iterator[Window]:
        self._loader.leave_epoch()
        self._loader.set_epoch(self._loader.epoch)
        return Epoch(self._loader)

    def set_epoch(self, epoch: int) -> None:
        """The loader counts epochs itself: the Trainer's own count starts again after a resume."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader.dataloader, name)


class _StockLength:
    """Stands for the stock loader where the Trainer computes its steps."""

    def __init__(self, loader: Loader) -> None:
        self.dataset = loader.dataset
        self._length = loader.micro_batches

    def __len__(self) -> int:
        return self._length


class TrainerMethod(Method):
    """The Trainer's own training_step on micro batches and pieces of them."""

    def __init__(self, hook: Transformers, model: Any, items: Any) -> None:
        self._hook = hook
        self.wrapped = model
        self._called = model if hook.run._ranks is None else hook.trainer.model
        self._items = items
        self.model = hook.trainer.model

    def key(self) -> Any:
        return "transformers"

    def modules(self) -> list[Any]:
        function = self._hook.trainer.compute_loss_func
        return [self.model, function] if hasattr(function, "named_modules") else [self.model]

    def rank_weight(self, window: Window) -> float:
        if self._items is not None and self._hook.counts_over_ranks():
            return 1.0  # the loss was divided by what all ranks have together
        return super().rank_weight(window)

    def begins(self, number: int, parts: int) -> None:
        trainer = self._hook.trainer
        trainer.current_gradient_accumulation_steps = parts
        trainer.accelerator.gradient_state._set_sync_gradients(number == parts - 1)

    def ended(self, number: int, parts: int) -> None:
        if number < parts - 1:
            trainer = self._hook.trainer
            trainer.control = trainer.callback_handler.on_substep_end(trainer.args, trainer.state, trainer.control)

    def run(self, part: Any, parts: int, scaled: Scaled) -> Any:
        trainer = self._hook.trainer
        trainer.current_gradient_accumulation_steps = parts
        tracer = self._hook.run._tracer
        mark = tracer.mark if tracer else nothing
        accelerator = trainer.accelerator
        backward = accelerator.backward

        def backward_of_scaled(loss: Any, **kwargs: Any) -> Any:
            root = scaled(loss)
            mark("backward")
            return backward(root, **kwargs)

        accelerator.backward = backward_of_scaled
        mark("forward")
        try:
            return self._hook.stock["training_step"](self._called, part, self._items)
        finally:
            del accelerator.backward


def _why_not_transformers(trainer: Any) -> Reason | None:
    """Why this Trainer can be watched only; None if its size can be steered."""
    import transformers

    args, version = trainer.args, transformers.__version__
    strategy = str(getattr(args, "train_sampling_strategy", "") or "")
    loop = ("_inner_training_loop", "get_batch_samples", "_run_epoch")
    own = ", ".join(name for name in loop if overrides(trainer, name, transformers.Trainer))
    grouped = bool(getattr(args, "group_by_length", False)) or "group" in strategy or "rebalance" in strategy
    reasons = (
        (
            version_of(transformers) < (4, 57),
            Reason(
                "old-version",
                f"transformers {version} is older than 4.57",
                {"package": "transformers", "version": version, "least": "4.57"},
            ),
        ),
        (args.n_gpu > 1, Reason("data-parallel", "DataParallel over several GPUs")),
        (trainer.is_deepspeed_enabled, Reason("deepspeed", "DeepSpeed")),
        (trainer.is_fsdp_enabled, Reason("fsdp", "FSDP")),
        (grouped, Reason("grouped-batches", "batches grouped by length")),
        (
            str(args.optim).rpartition(".")[2].lower() in ("lomo", "adalomo"),
            Reason("steps-in-backward", "an optimizer that steps in backward"),
        ),
        (bool(own), Reason("own-loop", f"the Trainer has its own {own}", {"methods": own})),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _why_not_ranks_of(trainer: Any) -> Reason | None:
    """Why the processes of this Trainer cannot be steered together; None if they can be."""
    args, accelerator = trainer.args, trainer.accelerator
    reasons = (
        (getattr(accelerator, "parallelism_config", None) is not None, "processes that share the examples"),
        (bool(accelerator.split_batches), "split_batches"),
        (bool(accelerator.dispatch_batches), "dispatch_batches"),
        (str(args.include_num_input_tokens_seen) not in ("no", "False"), "include_num_input_tokens_seen"),
    )
    return next((Reason("several-ranks", what, {"what": what}) for holds, what in reasons if holds), None)


def overrides(instance: Any, name: str, base: type) -> bool:
    """Whether the instance's class has another method of this name than the base class."""
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
    """Attached to one transformers.Trainer: replaces methods of that instance, and calls them.

    The Trainer's loop sees one window for each update, and no accumulation. Callbacks and everything else see what they
    would see without BatchScope, computed from the plan.
    """

    def __init__(self, run: Run, trainer: Any) -> None:
        self.run = run
        self.trainer = trainer
        self.stock: dict[str, Any] = {}
        self.loader: Loader | None = None
        self.loss: Any = None
        self.grad_norm: Any = None
        self._loop = LoopArguments(trainer, self._accumulate)
        self._own_train_batch = 0  # trainer._train_batch_size at the program's own size
        self._first = (0, 0)  # sizes that the rate schedule was made for
        self._changed = False  # whether the size was ever another one
        self._epochs = 0.0
        self._stock_epochs = 0
        self._schedule_steps = 0
        self._checked_scale = False
        self._evaluations = Evaluations(run, TrainerEvaluation(self))

    def _accumulate(self) -> int | None:
        return None if self.loader is None else self.loader.accumulate

    # ---- methods of the Trainer ----

    def replace(self, name: str) -> None:
        """Puts a method of this object in the place of the Trainer's."""
        self.stock[name] = getattr(self.trainer, name)
        setattr(self.trainer, name, getattr(self, name))

    def get_train_dataloader(self) -> Any:
        dataloader = self.stock["get_train_dataloader"]()
        run, trainer, args = self.run, self.trainer, self.trainer.args
        self._loop.leave()
        try:
            check_divided(dataloader, run._ranks)
            loader = Loader(run, dataloader)
        except Unknown as unknown:
            self.loader = run._loader = None
            run._watch_only(unknown.reason)
            return self._begin_watching(dataloader, unknown.reason)
        run._splitter = Splitter(run)  # what was learnt of another model does not hold for this one
        run.on_rates = "own"
        self.loader = run._loader = loader
        loader.own_accumulate = args.gradient_accumulation_steps
        loader.accumulate = loader.own_accumulate
        self._own_train_batch = trainer._train_batch_size
        self._loop.enter()
        run._know_model(trainer.model)
        run._describe(
            batch=loader.batch,
            accumulate=loader.accumulate,
            epochs=None if args.max_steps > 0 else args.num_train_epochs,
            steps=args.max_steps if args.max_steps > 0 else None,
        )
        run._greet(wait=True)
        run._keep_size()
        if run._ranks is not None:
            run._share_orders()
        self._first = loader.batch, loader.accumulate
        self._changed = False
        return dataloader if "_run_epoch" in self.stock else _Endless(loader, self._loop)

    def _begin_watching(self, dataloader: Any, reason: Reason) -> Any:
        """Of an iterable data set the first size can be told."""
        if reason.code != "iterable-dataset":
            return dataloader
        trainer, run = self.trainer, self.run
        run._describe(can=("first batch",), batch=trainer._train_batch_size)
        run._greet(wait=True)
        size = run._told_size.get("batch")
        if not isinstance(size, int) or size == trainer._train_batch_size:
            return dataloader
        trainer._train_batch_size = size
        return self.stock["get_train_dataloader"]()

    def set_initial_training_values(self, args: Any, dataloader: Any, *rest: Any) -> Any:
        loader = self.loader
        if loader is None:
            return self.stock["set_initial_training_values"](args, dataloader, *rest)
        trainer = self.trainer
        if not loader.is_own:
            trainer._train_batch_size = max(1, self._own_train_batch * loader.batch // loader.own_batch)
            dataloader = _StockLength(loader)
            rest = tuple(trainer.get_total_train_batch_size(args) for _ in rest)
        elif isinstance(dataloader, _Endless):
            dataloader = _StockLength(loader)
        values = list(self.stock["set_initial_training_values"](args, dataloader, *rest))
        self._stock_epochs = values[0]
        self._epochs = math.inf if args.max_steps > 0 else float(args.num_train_epochs)
        if "_run_epoch" not in self.stock:
            values[0], values[1], values[5] = _ENDLESS, _ENDLESS, _ENDLESS
        elif math.isinf(self._epochs):
            values[0] = _ENDLESS  # smaller batches need more epochs for as many steps
        return tuple(values)

    def _run_epoch(self, *args: Any, **kwargs: Any) -> Any:
        """Of transformers 5: an epoch of the loop, which has as many updates as the loader has windows."""
        if self.loader is None:
            return self.stock["_run_epoch"](*args, **kwargs)
        bound = inspect.signature(self.stock["_run_epoch"]).bind(*args, **kwargs)
        bound.arguments.update(
            train_dataloader=_Endless(self.loader, self._loop),
            steps_in_epoch=_ENDLESS,
            num_update_steps_per_epoch=_ENDLESS,
            steps_trained_in_current_epoch=0,  # the loader knows its position
        )
        return self.stock["_run_epoch"](*bound.args, **bound.kwargs)

    def create_scheduler(self, num_training_steps: int, *args: Any, **kwargs: Any) -> Any:
        self._schedule_steps = num_training_steps
        return self.stock["create_scheduler"](num_training_steps, *args, **kwargs)

    def get_batch_samples(self, iterator: Any, count: int, *rest: Any) -> Any:
        if self.loader is None:
            return self.stock["get_batch_samples"](iterator, count, *rest)
        window = next(iterator, None)
        if window is None:
            self.trainer.control.should_epoch_stop = True
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
        args, ranks = self.trainer.args, self.run._ranks
        over_ranks = args.average_tokens_across_devices
        args.average_tokens_across_devices = False
        try:
            _, items = self.stock["get_batch_samples"](iter(window.parts), len(window.parts), *rest)
        finally:
            args.average_tokens_across_devices = over_ranks
        if not over_ranks or ranks is None:
            return items
        answers = ranks.gather([items is not None, 0.0 if items is None else float(items)])
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
        method = TrainerMethod(self, model, items)
        factor = len(inputs.parts)
        if self.run._ranks is not None and self.counts_over_ranks():
            factor *= self.run._ranks.size
        if not self._checked_scale and inputs.parts and factor > 1 and items is not None:
            self._check_scale(method, inputs, factor)
        self.loss = self.run._splitter.run(inputs, method)
        return self._of_last_part()

    def _of_last_part(self) -> Any:
        """The Trainer adds the losses of micro batches one by one; it knows of the last one."""
        losses = self.run._splitter.losses
        if not hasattr(self.trainer, "_tr_loss") or self.run._ranks is not None or len(losses) < 2:
            return self.loss
        import torch

        trainer = self.trainer
        for loss in losses[:-1]:
            if trainer.args.logging_nan_inf_filter and not bool(torch.isfinite(loss)):
                steps = 1 + trainer.state.global_step - trainer._globalstep_last_logged
                trainer._tr_loss += trainer._tr_loss / steps
            else:
                trainer._tr_loss += loss
        return losses[-1]

    def floating_point_ops(self, inputs: Any) -> Any:
        parts = inputs.parts if isinstance(inputs, Window) else [inputs]
        return sum(self.stock["floating_point_ops"](part) for part in parts)

    def _track_num_input_tokens(self, inputs: Any) -> None:
        for part in inputs.parts if isinstance(inputs, Window) else [inputs]:
            self.stock["_track_num_input_tokens"](part)

    def prediction_step(
        self, model: Any, inputs: Any, prediction_loss_only: bool, ignore_keys: list[str] | None = None
    ) -> Any:
        """A batch of an evaluation: in smaller ones if memory is short, with the same result."""
        return self._evaluations.run(inputs, prediction_loss_only, ignore_keys, model=model)

    def _check_scale(self, method: TrainerMethod, window: Window, factor: int) -> None:
        """Tells of a head that takes the count of labels and ignores it: its gradients grow with accumulation."""
        self._checked_scale = True
        if not self.run.active or not self.trainer.model_accepts_loss_kwargs:
            return
        part = cut(window, 0, slice(0, min(2, window.sizes[0])))
        items = method._items
        losses = []
        try:
            with unchanged(self.run._splitter.keeper, method.modules()):
                for times in (1, 2):
                    method._items = items * times
                    losses.append(loss_of(method, part, len(window.parts)).loss)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            return
        finally:
            method._items = items
        if losses[0] == losses[1] != 0:
            self.run.event(
                "loss-scale",
                factor=factor,
                text="the model ignores num_items_in_batch: gradients are too large by this factor",
            )

    # ---- moments of the training ----

    def began(self, state: Any, name: str) -> None:
        """The first event of a training."""
        run, loader = self.run, self.loader
        run._know_model(self.trainer.model)
        run._know_optimizer(self.trainer.optimizer)
        if loader is None:
            run._begin_training(state.global_step)
            return
        state.num_train_epochs = self._stock_epochs
        if state.global_step > 0:  # resumed
            self._resume(loader, state.global_step, (state.stateful_callbacks or {}).get(name))
        run._begin_training(state.global_step)
        state.stateful_callbacks[name] = self.position()
        run._changed = run._changed or state.global_step > 0

    def _resume(self, loader: Loader, steps: int, saved: Any) -> None:
        """Goes on at the checkpoint's position; for one made without BatchScope, at the one its steps amount to."""
        saved = saved[-1] if isinstance(saved, list) and saved else saved
        attributes = saved.get("attributes", {}) if isinstance(saved, dict) else {}
        if attributes.get("loader"):
            self._changed = attributes["changed"]
            own = {} if self._changed else {"batch": loader.batch, "accumulate": loader.accumulate}
            loader.load_state_dict({**attributes["loader"], **own})  # an unchanged size is the program's: of today
            if self._changed:
                self._first = tuple(attributes["first"])
            self.run._splitter.limit = attributes["limit"]
            return
        sizes = {"batch": loader.batch, "accumulate": loader.accumulate}
        loader.batch, loader.accumulate = loader.own_batch, loader.own_accumulate  # those of the steps that were made
        epoch, windows = divmod(steps, max(1, len(loader)))
        seen = min(windows * loader.batch * loader.accumulate * loader._sharers, loader.examples)
        loader.load_state_dict({"epoch": epoch, "seen": epoch * loader.examples + seen, "seen_in_epoch": seen, **sizes})

    def position(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        if self.loader is None:
            return {"args": {}, "attributes": {}}
        attributes = {
            "loader": self.loader.state_dict(),
            "first": list(self._first),
            "changed": self._changed,
            "limit": self.run._splitter.limit,
        }
        return {"args": {}, "attributes": attributes}

    def stepped(self, state: Any, control: Any) -> None:
        """The last event of a step, before all other callbacks."""
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
            self._follow_size(state, loader)
        if run._stop:
            control.should_training_stop = True
            control.should_save = control.should_save or run._save

    def _place(self, state: Any, loader: Loader) -> None:
        """How far the training is, as the Trainer counts: by micro batches, as long as all are of one size."""
        if self._changed:
            state.epoch = self._epochs_seen(loader)
            return
        batch = loader.batch * loader._sharers
        whole = loader.micro_batches
        done = whole if loader.through else -(-loader.seen_in_epoch // batch)
        state.epoch = loader.epoch + done / whole

    @staticmethod
    def _epochs_seen(loader: Loader) -> float:
        return loader.epoch + (1.0 if loader.through else loader.seen_in_epoch / loader.examples)

    def _follow_size(self, state: Any, loader: Loader) -> None:
        """From the first change of the size on, training ends with its examples and the rate follows progress."""
        if self.run._probe is not None:
            state.max_steps = max(state.max_steps, state.global_step + _ENDLESS)  # until all sizes are tried
            return
        self._changed = self._changed or (loader.batch, loader.accumulate) != self._first
        self._place(state, loader)
        if not self._changed or math.isinf(self._epochs):
            return
        self.trainer.callback_handler.train_dataloader = _Endless(loader, self._loop)  # its length is another one now
        state.max_steps = state.global_step + self._steps_left(loader)
        schedule = self.trainer.lr_scheduler
        import torch

        if isinstance(schedule, torch.optim.lr_scheduler.LambdaLR):
            done = state.global_step >= state.max_steps
            progress = 1.0 if done else min(1.0, self._epochs_seen(loader) / self._epochs)
            schedule.last_epoch = progress * self._schedule_steps - 1
            schedule.step()
        elif schedule is not None:
            self.run.on_rates = "progress"

    def _steps_left(self, loader: Loader) -> int:
        last = math.ceil(self._epochs)  # epochs, the last of them perhaps in part
        in_last = math.ceil((self._epochs - (last - 1)) * loader.examples)
        epoch, seen = (loader.epoch + 1, 0) if loader.through else (loader.epoch, loader.seen_in_epoch)
        if epoch >= last:
            return 0
        if epoch == last - 1:
            return loader._windows(max(0, in_last - seen))
        return loader._windows(loader.examples - seen) + (last - epoch - 2) * len(loader) + loader._windows(in_last)

    def ended(self) -> None:
        """The training is over."""
        self._loop.leave()


def _trainer_callback(hook: Transformers) -> Any:
    from transformers.trainer_callback import ExportableState, TrainerCallback

    run, trainer = hook.run, hook.trainer

    class BatchScopeCallback(TrainerCallback, ExportableState):  # type: ignore[misc]
        """In front of all others, so that they see the epoch and the steps of the present size."""

        def state(self) -> dict[str, Any]:
            return hook.position()

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            callbacks = trainer.callback_handler.callbacks
            callbacks.insert(0, callbacks.pop(callbacks.index(self)))  # a restored one comes last
            hook.began(state, type(self).__name__)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            hook.stepped(state, control)

        def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if hook.loader is not None:
                control.should_epoch_stop = False  # it was through, and nobody has asked for its end

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any) -> None:
            values = {
                series_of(name, value): value
                for name, value in (metrics or {}).items()
                if isinstance(value, (int, float)) and name != "epoch"
            }
            values["evaluation_seconds"] = sum(value for name, value in values.items() if name.endswith("_runtime"))
            run.event("evaluation", values=values)

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            hook.ended()

    return BatchScopeCallback()


def _watch_gradient_norm(hook: Transformers) -> None:
    accelerator = hook.trainer.accelerator
    clip = accelerator.clip_grad_norm_

    def clip_grad_norm(*args: Any, **kwargs: Any) -> Any:
        hook.grad_norm = clip(*args, **kwargs)
        return hook.grad_norm

    accelerator.clip_grad_norm_ = clip_grad_norm


def _why_watched(run: Run, trainer: Any) -> Reason | None:
    reason = _why_not_transformers(trainer)
    if reason is None and trainer.args.world_size > 1:
        return _why_not_ranks_of(trainer) or run._join_ranks()
    if reason is None and run._world > 1:
        what = (
            f"{run._world} processes train independently of each other "
            "(on the CPU, a Trainer needs use_cpu for more)"
        )
        return Reason("world-not-joined", what, {"processes": run._world})
    return reason


_REPLACED = (
    "get_train_dataloader", "set_initial_training_values", "create_scheduler", "get_batch_samples", "_run_epoch",
    "training_step", "floating_point_ops", "_track_num_input_tokens",
)  # fmt: skip


def attach_transformers(run: Run, trainer: Any) -> Transformers:
    """Called by attach()."""
    import transformers

    hook = Transformers(run, trainer)
    trainer.callback_handler.callbacks.insert(0, _trainer_callback(hook))
    run._describe(
        framework=f"transformers {transformers.__version__}",
        settings=_settings_of_transformers(trainer),
        batch=trainer.args.train_batch_size,
        accumulate=trainer.args.gradient_accumulation_steps,
    )
    _ = run.stopping  # the Trainer ends by itself
    _watch_gradient_norm(hook)
    hook.replace("prediction_step")
    if trainer.eval_dataset is not None and trainer.args.world_size == 1:
        run._can_evaluate(TrainerEvaluationTrial(hook))
    reason = _why_watched(run, trainer)
    if reason is not None:
        hook.replace("training_step")
        run._watch_only(reason)
        return hook
    if trainer.args.auto_find_batch_size:
        trainer.args.auto_find_batch_size = False
        run.event("lint", text="auto_find_batch_size is switched off: it restarts at step 0 with the trained weights")
    if getattr(trainer.args, "torch_compile", False):
        run.event("lint", text="torch.compile compiles again when the batch size changes")
    for name in _REPLACED:
        if hasattr(trainer, name):
            hook.replace(name)
    run._describe(can=("estimate",))
    run._estimator = lambda batches: estimate_trainer(trainer, batches)
    return hook
