"""A plain loop for several ranks, started by test_ranks.py: argument 1 names what it does; prints JSON lines."""

import atexit
import contextlib
import itertools
import json
import os
import signal
import sys

from torch_programs import batchscope, difference, failing, gradients

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

distributed.init_process_group("gloo")
RANK, RANKS = distributed.get_rank(), distributed.get_world_size()


def tell(**values):
    line = json.dumps({"rank": RANK, **values}) + "\n"
    os.write(1, line.encode())  # whole lines, whatever the other ranks write


def data(examples):
    numbers = torch.Generator().manual_seed(1)
    return TensorDataset(torch.arange(examples), torch.randn(examples, 6, generator=numbers),
                         torch.randn(examples, 2, generator=numbers))


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))


def loader(run, examples, batch, **options):
    dataset = data(examples)
    sampler = DistributedSampler(dataset, seed=3)
    return run.loader(DataLoader(dataset, batch_size=batch, sampler=sampler, **options)), sampler


def steps(run, own, sampler, model, epochs=1, *, after=lambda step: None):
    """Trains; tells the examples of each step."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    step = 0
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for window in own:
            loss = run.backward(window, mean_loss(model), model)
            optimizer.step()
            step += 1
            tell(epoch=epoch, step=step, ids=[int(example[0]) for example in window.examples], sizes=window.sizes,
                 loss=float(loss))
            run.step(optimizer, loss=loss)
            after(step)


def divide():
    """All ways to divide 11 examples, with sizes that the program itself sets."""
    run = batchscope.start()
    for options in ({}, {"drop_last": True}, {"num_workers": 2}):
        for accumulate in (1, 2):
            own, sampler = loader(run, 11, 1, **options)
            own.accumulate = accumulate
            tell(case=f"{options} {accumulate}", drop_last=bool(options.get("drop_last")), accumulate=accumulate)

            def grow(step):
                own.batch += step % 2

            steps(run, own, sampler, DistributedDataParallel(network()), 3, after=grow)
            tell(end=True, seen=own.seen)


def schedule():
    """The program's own schedule, which rank 0 alone is asked for."""
    asked = []
    run = batchscope.start(schedule=lambda step, batch: asked.append(step) or batch + (step % 5 == 0))
    own, sampler = loader(run, 10, 1)
    steps(run, own, sampler, DistributedDataParallel(network()), 5)
    tell(asked=len(asked))


def mean_loss(model):
    return lambda index, x, y: ((model(x) - y) ** 2).mean()


def weighted_loss(model):
    def loss(index, x, y):
        weights = (index % 3 + 1).float()
        return (((model(x) - y) ** 2).mean(1) * weights).sum() / weights.sum()

    return loss


def weights_of(examples):
    return float(sum(int(example[0]) % 3 + 1 for example in examples))


def memory():
    """Errors on rank 1 alone, against one process with all examples of the step."""
    run = batchscope.start()
    whole = data(9)
    for case, examples, batch, accumulate, before in (
            ("equal", 8, 4, 1, 0), ("tail", 9, 3, 1, 1), ("tail of a window", 9, 4, 2, 0), ("empty", 9, 4, 1, 1),
            ("weighted", 9, 3, 2, 0)):
        make, weight = (weighted_loss, weights_of) if case == "weighted" else (mean_loss, None)
        model = network()
        wrapped = DistributedDataParallel(model)
        dataset = TensorDataset(*whole[:examples])
        own = run.loader(DataLoader(dataset, batch_size=batch, sampler=DistributedSampler(dataset)))
        own.accumulate = accumulate
        windows = iter(own)
        for _ in range(before):
            next(windows)
        window = next(windows)
        with failing(model[0], "backward", 1 if RANK else 100) as limit:
            value = run.backward(window, make(wrapped), wrapped, weight)
        found = gradients(model)
        parts = [None] * RANKS
        distributed.all_gather_object(parts, [int(example[0]) for example in window.examples])
        rows = torch.tensor(list(itertools.chain(*parts)))
        model.zero_grad()
        expected = make(model)(*(tensor[rows] for tensor in whole.tensors))
        expected.backward()
        tell(case=case, errors=limit["errors"], difference=difference(found, gradients(model)),
             loss=abs(float(value) - float(expected)) / float(expected), examples=[len(part) for part in parts])
        run.step()


def steered():
    """Does what it is told; says which steps it has made."""
    run = batchscope.start()
    own, sampler = loader(run, 4000, 1)
    steps(run, own, sampler, DistributedDataParallel(network()), 100)


def twice():
    """One training after the other, each with a loader of its own."""
    run = batchscope.start()
    for _ in range(2):
        own, sampler = loader(run, 32, 2)
        steps(run, own, sampler, DistributedDataParallel(network()))


def probes():
    """As steered(); rank 1 has memory for three examples."""
    model = network()
    with failing(model[0], "backward", 3 if RANK else 100):
        run = batchscope.start()
        own, sampler = loader(run, 4000, 1)
        steps(run, own, sampler, DistributedDataParallel(model), 100)


def dies():
    """Rank 1 is killed after its third step."""
    run = batchscope.start()
    own, sampler = loader(run, 4000, 1)
    steps(run, own, sampler, DistributedDataParallel(network()), 100,
          after=lambda step: os.kill(os.getpid(), signal.SIGKILL) if RANK and step == 3 else None)


def gives_up():
    """Rank 1 cannot split, since not even one example fits."""
    run = batchscope.start()
    own, _ = loader(run, 8, 4)
    model = network()
    wrapped = DistributedDataParallel(model)
    with failing(model[0], "forward", 0 if RANK else 100):
        try:
            run.backward(next(iter(own)), mean_loss(model), wrapped)
        except RuntimeError as error:
            tell(error=str(error), memory=batchscope.is_out_of_memory(error))


def refusals():
    """What cannot be done together says so."""
    run = batchscope.start()
    own, _ = loader(run, 8, 2)
    kept = DistributedDataParallel(network())  # the program has one
    window = next(iter(own))
    model = network()
    run.backward(window, mean_loss(model), model)
    tell(own_gradients=all(p.grad is not None for p in model.parameters()) and kept is not None)
    if RANK:
        own._batch = own._window = 3, 1
    try:
        model = DistributedDataParallel(network())
        run.backward(window, mean_loss(model), model)
    except RuntimeError as error:
        tell(sizes=str(error))
    run.loader(DataLoader(data(8), batch_size=2, shuffle=True))
    tell(together=run._ranks is not None)


if __name__ == "__main__":
    with contextlib.suppress(SystemExit):  # it was told to stop
        globals()[sys.argv[1]]()
    distributed.destroy_process_group()
    # With gloo, torch itself aborts some processes that end on a busy machine: 5 of 13 starts of a plain loop.
    atexit._run_exitfuncs()
    os._exit(0)
