"""Plain loops with schedules of the rate, clipping, and other precisions. See common.py for the arguments."""

import torch
from torch.nn import functional as F
from torch.optim import lr_scheduler as schedules
from torch.utils.data import DataLoader

from common import main, network, program, rows, vectors

EPOCHS = 2


def train(trial, schedule_of, per_epoch=False, clip=None, optimizer_class=torch.optim.SGD, **options):
    """`schedule_of` gets the optimizer and the steps of an epoch."""
    model = network()
    trial.limit(model[0])
    optimizer = optimizer_class(model.parameters(), 0.05, **options)
    loader = trial.run.loader(DataLoader(vectors(50), 8, shuffle=True))
    schedule = schedule_of(optimizer, len(loader))
    trial.keep(model, optimizer, schedule)
    for _ in range(EPOCHS):
        for batch in loader:
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            if clip is not None:
                trial.note("norm", float(torch.nn.utils.clip_grad_norm_(model.parameters(), clip)))
            optimizer.step()
            if not per_epoch:
                schedule.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))
        if per_epoch:
            schedule.step()


@program
def one_cycle(trial):
    """OneCycleLR, which raises when it is stepped more often than it was made for; it also moves the momentum."""
    train(trial, lambda o, n: schedules.OneCycleLR(o, 0.2, total_steps=EPOCHS * n), clip=0.5, momentum=0.9)


@program
def cosine_per_epoch(trial):
    """A cosine, stepped after each epoch."""
    train(trial, lambda o, n: schedules.CosineAnnealingLR(o, EPOCHS), per_epoch=True)


@program
def warm_up(trial):
    """A linear warm-up and decay by update, with AdamW."""
    train(trial, lambda o, n: schedules.LambdaLR(o, lambda s: min((s + 1) / 4, 1 - s / (EPOCHS * n + 1))),
          optimizer_class=torch.optim.AdamW)


@program
def one_after_the_other(trial):
    """A warm-up, then a cosine, joined by SequentialLR."""
    train(trial, lambda o, n: schedules.SequentialLR(o, [
        schedules.LinearLR(o, 0.1, total_iters=4), schedules.CosineAnnealingLR(o, EPOCHS * n - 4)], [4]), clip=1.0)


@program
def chained(trial):
    """Two schedules at once, by ChainedScheduler."""
    train(trial, lambda o, n: schedules.ChainedScheduler([
        schedules.ConstantLR(o, 0.5, total_iters=3), schedules.ExponentialLR(o, 0.9)]))


@program
def plateau(trial):
    """The rate falls when the loss on other examples does not."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    schedule = schedules.ReduceLROnPlateau(optimizer, patience=0, threshold=0.5)
    trial.keep(model, optimizer)
    loader = trial.run.loader(DataLoader(vectors(50), 8, shuffle=True))
    x, y = vectors(20, seed=2).tensors
    for _ in range(4):
        for batch in loader:
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))
        with torch.no_grad():
            other = F.cross_entropy(model(x), y)
        schedule.step(other)
        trial.run.report(trial.steps, val_loss=other)
        trial.note("other", float(other))


@program
def restarts_by_fraction(trial):
    """Warm restarts that are told the epoch as a fraction, from the number of batches of the loader."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.1, nesterov=True, momentum=0.9)
    schedule = schedules.CosineAnnealingWarmRestarts(optimizer, 1)
    trial.keep(model, optimizer)
    loader = trial.run.loader(DataLoader(vectors(50), 8, shuffle=True))
    for epoch in range(EPOCHS):
        for number, batch in enumerate(loader):
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            schedule.step(epoch + number / len(loader))
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))


@program
def averaged_weights(trial):
    """Weights are averaged, and at the end the statistics of the batch norm are made anew with the loader."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(),
                                torch.nn.Linear(16, 3))
    trial.limit(model[0])
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = torch.optim.swa_utils.SWALR(optimizer, 0.05, anneal_epochs=1)
    trial.keep(model, average)
    loader = trial.run.loader(DataLoader(vectors(48), 8, shuffle=True))
    for _ in range(EPOCHS):
        for batch in loader:
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))
        average.update_parameters(model)
        schedule.step()
    torch.optim.swa_utils.update_bn(getattr(loader, "dataloader", loader), average)  # which takes lists only


@program
def half_precision(trial):
    """Autocast to bfloat16."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    trial.keep(model, optimizer)

    def loss_of(x, y):
        with torch.autocast("cpu", torch.bfloat16):
            return F.cross_entropy(model(x), y)

    for batch in trial.run.loader(DataLoader(vectors(50), 8, shuffle=True)):
        loss = trial.run.backward(batch, loss_of, model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


@program
def scaled_loss(trial):
    """A GradScaler whose first scales are too large, so that updates are left out, with autocast and clipping."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=4, backoff_factor=2.0**-20)
    trial.keep(model, optimizer)

    def loss_of(x, y):
        with torch.autocast("cpu", torch.bfloat16):
            return 8 * F.cross_entropy(model(x), y)

    for batch in trial.run.loader(DataLoader(vectors(50), 8, shuffle=True)):
        loss = trial.run.backward(batch, loss_of, model, scale=scaler)
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))
        trial.note("scale", scaler.get_scale())


@program
def double_precision(trial):
    """A model in float64."""
    model = network().double()
    trial.limit(model[0])
    optimizer = torch.optim.RMSprop(model.parameters(), 1e-3)
    trial.keep(model, optimizer)
    for batch in trial.run.loader(DataLoader(vectors(50), 8, shuffle=True)):
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x.double()), y), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


@program
def accelerated(trial):
    """With accelerate, which prepares model, optimizer, loader and schedule."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    schedule = schedules.LinearLR(optimizer, 1.0, 0.1, total_iters=14)
    loader = DataLoader(vectors(50), 8, shuffle=True)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    trial.keep(model, optimizer)
    loader = trial.run.loader(loader)
    for _ in range(EPOCHS):
        for batch in loader:
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model, scale=accelerator)
            accelerator.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            schedule.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))


@program
def accelerated_accumulation(trial):
    """accelerate accumulates 3 batches, and less at the end of the data, which it sees from its own loader."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = schedules.StepLR(optimizer, 2)
    model, optimizer, loader, schedule = accelerator.prepare(
        model, optimizer, DataLoader(vectors(62), 8, shuffle=True), schedule)
    trial.keep(model, optimizer)
    loader = trial.run.loader(loader)
    for _ in range(EPOCHS):
        examples = 0
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            examples += len(x)
            if accelerator.sync_gradients:
                trial.run.step(optimizer, loss=loss.detach())
                trial.step(loss, optimizer, examples)
                examples = 0
        trial.note("left", examples)


@program
def fabric(trial):
    """With Lightning's Fabric."""
    from lightning.fabric import Fabric

    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    model = network()
    trial.limit(model[0])
    model, optimizer = fabric.setup(model, torch.optim.AdamW(model.parameters(), 1e-2))
    loader = trial.run.loader(fabric.setup_dataloaders(DataLoader(vectors(50), 8, shuffle=True)))
    trial.keep(model, optimizer)
    for batch in loader:
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model, scale=fabric)
        fabric.clip_gradients(model, optimizer, max_norm=0.5)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


if __name__ == "__main__":
    main()
