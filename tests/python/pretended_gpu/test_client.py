"""The client on pretended GPUs: torch's CUDA part is real, kernels do nothing."""

import os
import subprocess
import sys
import textwrap
import unittest

CLIENT = os.path.join(os.path.dirname(__file__), "..", "..", "..", "resources", "python")
LIBRARIES = os.environ["BATCHSCOPE_PRETENDED_LIBRARIES"]

TRAINING = """
import torch
from batchscope import memory, tracer, values

def training():
    net = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).cuda()
    return net, torch.optim.AdamW(net.parameters())

def step(net, optimizer, batch):
    optimizer.zero_grad()
    loss = net(torch.randn(batch, 512, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    return loss
"""


# Python ends while a thread of autograd may still let go of its last task, and torch then aborts: rarely on a GPU,
# where the end waits for kernels, often here.
END = """
import os, sys
sys.stdout.flush()
os._exit(0)
"""


def run(code, card="memory=8000000000", more=None):
    """What a Python program with torch prints that sees this card."""
    environment = {
        **os.environ,
        "PYTHONPATH": CLIENT,
        "LD_LIBRARY_PATH": LIBRARIES,
        "LD_PRELOAD": "libbatchscope_pretended_gpu.so",
        "BATCHSCOPE_PRETENDED_GPU": card,
        **(more or {}),
    }
    environment.pop("CUDA_VISIBLE_DEVICES", None)  # which hides all from this process
    child = subprocess.run([sys.executable, "-c", TRAINING + textwrap.dedent(code) + END], env=environment, text=True,
                           capture_output=True, check=False)
    if child.returncode:
        raise AssertionError(child.stderr)
    return child.stdout


class OnAPretendedGpu(unittest.TestCase):
    def test_the_card_is_seen(self):
        printed = run("""
            print(torch.cuda.device_count(), torch.cuda.get_device_name(1), torch.cuda.get_device_capability())
        """, "name=NVIDIA L40\ncount=2\ncapability=89")
        self.assertEqual(printed, "2 NVIDIA L40 (8, 9)\n")

    def test_attention_that_cudnn_would_compute(self):
        printed = run("""
            x = torch.randn(2, 4, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
            torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()
            print(x.grad.shape[2])
        """, "capability=90")
        self.assertEqual(printed, "128\n")

    def test_kernels_that_ask_what_the_card_has(self):
        printed = run("""
            print(torch.randn(800, 1000, device="cuda").topk(5).values.shape[1])
        """)
        self.assertEqual(printed, "5\n")

    def test_groups_that_ask_for_nccl(self):
        """Each way to make a group trains in one process; several processes are refused."""
        code = """
            import os
            from torch import distributed
            from torch.distributed.device_mesh import init_device_mesh
            from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
            from torch.nn.parallel import DistributedDataParallel
            from batchscope import nccl

            os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
            if not STOCK:
                nccl.stand_in_for_nccl()

            def begin(kind):
                if kind == "mesh":
                    return init_device_mesh("cuda", (1,))
                backend = {"mixed": "cpu:gloo,cuda:nccl", "default": None}.get(kind, "nccl")
                device = torch.device("cuda:0") if kind == "ddp" else None
                distributed.init_process_group(backend, store=distributed.HashStore(), rank=0, world_size=WORLD,
                                               device_id=device)

            def wrapped(net, kind, mesh):
                if kind == "ddp":
                    return DistributedDataParallel(net, device_ids=[0])
                if kind == "fsdp":
                    return FullyShardedDataParallel(net, device_id=0)
                return fully_shard(net, mesh=mesh) if kind == "mesh" else net

            for kind in KINDS:
                mesh = begin(kind)
                net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)).cuda().bfloat16()
                net = wrapped(net, kind, mesh)
                optimizer = torch.optim.AdamW(net.parameters())
                for _ in range(3):
                    net(torch.randn(8, 64, device="cuda", dtype=torch.bfloat16)).square().mean().backward()
                    optimizer.step()
                distributed.barrier()
                part = distributed.new_group([0], backend="nccl")
                for group in (None, part):
                    distributed.all_reduce(torch.ones(3, device="cuda"), group=group)
                distributed.destroy_process_group()
                print(kind)
        """

        def trained(kinds, world=1, stock=False):
            names = f"KINDS, WORLD, STOCK = {kinds!r}, {world!r}, {stock!r}\n"
            return run(names + textwrap.dedent(code)).split()

        kinds = ["ddp", "fsdp", "mesh", "mixed", "default"]
        self.assertEqual(trained(kinds), kinds)
        with self.assertRaisesRegex(AssertionError, "a pretended GPU has one process"):
            trained(["ddp"], world=2)
        with self.assertRaises(AssertionError):
            trained(["ddp"], stock=True)

    def test_changes_save_what_those_of_a_program_do(self):
        """Each change made by the client against the same written into the program."""
        code = """
            import contextlib, sys
            from torch.utils.checkpoint import checkpoint
            from batchscope import changes

            class Block(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.inner = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(),
                                                     torch.nn.Linear(1024, 256))
                def forward(self, x):
                    return x + self.inner(x)

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.blocks = torch.nn.ModuleList(Block() for _ in range(6))
                def forward(self, x):
                    for block in self.blocks:
                        own = OWN == "checkpointing"
                        x = checkpoint(block, x, use_reentrant=False) if own else block(x)
                    return x

            changes.make_changes()
            net = Net().cuda()
            optimizer = torch.optim.AdamW(net.parameters())
            for _ in range(4):
                optimizer.zero_grad()
                own = torch.autocast("cuda", torch.bfloat16) if OWN == "mixed" else contextlib.nullcontext()
                with own:
                    loss = net(torch.randn(4096, 256, device="cuda")).square().mean()
                loss.backward()
                optimizer.step()
            state = sum(t.untyped_storage().nbytes() for s in optimizer.state.values() for t in s.values()
                        if hasattr(t, "untyped_storage") and t.is_cuda)
            print(torch.cuda.max_memory_allocated(), state)
        """

        def taken(own, changes):
            environment = {"BATCHSCOPE_CHANGES": changes, "BATCHSCOPE_TRIAL": "it is thrown away"}
            printed = run(f"OWN = {own!r}\n" + textwrap.dedent(code), more=environment).split()
            return [int(number) for number in printed]

        plain, state = taken("", "")
        for name in ("mixed", "checkpointing"):
            own, changed = taken(name, "")[0], taken("", name)[0]
            self.assertEqual(changed, own)
            self.assertLess(changed, 0.9 * plain)
        changed, small = taken("", "adam8bit")
        self.assertLess(changed, plain)
        self.assertLess(small, 0.27 * state)  # two bytes and a share of the scales in the place of eight

    def test_the_list_of_a_step_has_its_peak(self):
        """Of what is asked for: blocks of the allocator may be larger."""
        printed = run("""
            net, optimizer = training()
            step(net, optimizer, 8)
            for batch in (16, 500):
                torch.cuda.reset_peak_memory_stats()
                message = tracer.trace(lambda: step(net, optimizer, batch), batch, net, optimizer)
                live = highest = message["start_bytes"]
                blocks = []
                for event in message["events"]:
                    if isinstance(event, list):
                        live -= event[0]
                    elif event > 0:
                        blocks.append(event)
                        live += blocks[-1]
                    else:
                        live -= blocks[-event - 1]
                    highest = max(highest, live)
                of_tensors = torch.cuda.memory_stats()["requested_bytes.all.peak"]
                print(highest == of_tensors, torch._C._cuda_isHistoryEnabled())
        """)
        self.assertEqual(printed, "True False\n" * 2)

    def test_what_else_the_program_keeps_is_in_the_list(self):
        printed = run("""
            net, optimizer = training()
            average = {name: tensor.clone() for name, tensor in net.state_dict().items()}
            frozen = torch.zeros(1 << 20, device="cuda")
            inputs = None
            def own_step():
                global inputs
                inputs = torch.randn(64, 512, device="cuda")  # those of the step before are kept until now
                optimizer.zero_grad()
                net(inputs).square().mean().backward()
                optimizer.step()
            own_step()
            torch.cuda.reset_peak_memory_stats()
            message = tracer.trace(own_step, 64, net, optimizer)
            parameters = sum(p.numel() * 4 for p in net.parameters())
            print(message["start_by"]["workspace"] - parameters - (4 << 20))
        """)
        self.assertLess(abs(int(printed)), 100)

    def test_a_recording_of_the_program_goes_on(self):
        printed = run("""
            net, optimizer = training()
            torch.cuda.memory._record_memory_history()
            step(net, optimizer, 8)
            message = tracer.trace(lambda: step(net, optimizer, 16), 16, net, optimizer)
            step(net, optimizer, 8)
            recorded = torch.cuda.memory._snapshot()["device_traces"][0]
            allocations = [entry for entry in recorded if entry["action"] == "alloc"]
            print(torch._C._cuda_isHistoryEnabled(), len(allocations) > 2.5 * sum(
                not isinstance(event, list) and event > 0 for event in message["events"]))
        """)
        self.assertEqual(printed, "True True\n")

    def test_peaks_that_the_program_reads_are_its_own(self):
        printed = run("""
            net, optimizer = training()
            step(net, optimizer, 8)
            ours = memory.CudaMemory(torch.device("cuda"))
            step(net, optimizer, 4000)
            highest = torch.cuda.max_memory_allocated()
            of_large = ours.read()["peak_bytes"]
            step(net, optimizer, 8)
            of_small = ours.read()["peak_bytes"]
            print(of_large == highest, of_small < highest, torch.cuda.max_memory_allocated() == highest)
            torch.cuda.reset_peak_memory_stats()
            print(torch.cuda.max_memory_allocated() == torch.cuda.memory_allocated())
        """)
        self.assertEqual(printed, "True True True\nTrue\n")

    def test_a_loss_on_another_gpu_than_the_current_one(self):
        printed = run("""
            torch.cuda.set_device(0)
            loss = torch.zeros((), device="cuda:1")
            later = values.number_of(loss)
            print(later.value(), later._copied.device, torch.cuda.current_device())
        """, "count=2")
        self.assertEqual(printed, "0.0 cuda:1 0\n")


if __name__ == "__main__":
    unittest.main()
