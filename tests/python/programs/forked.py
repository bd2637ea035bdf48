"""Runs programs, each in a process of its own that is forked from this one, which has imported what they need.

Reads a JSON object a line: argv, environment (what is to be set), output (where stdout and stderr go), seconds (after
which it is killed). Answers each with its exit status, as soon as it has ended.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import threading
import time
import traceback

MODULES = ("torch", "torch._dynamo", "torch.utils.data", "torch.optim.swa_utils", "numpy", "accelerate", "torchmetrics",
           "transformers.trainer", "transformers.models.gpt2.modeling_gpt2", "transformers.models.bert.modeling_bert",
           "transformers.trainer_seq2seq", "lightning.pytorch", "lightning.fabric", "lightning.pytorch.tuner",
           "transformers.data.data_collator")


def wait_for(pid, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "too long"


def serve():
    """Returns in a forked process, with what it is to run; None at the end of the input."""
    for line in sys.stdin:
        request = json.loads(line)
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            return request
        status = wait_for(pid, request["seconds"])
        print(json.dumps({"status": status, "seconds": time.monotonic() - began}), flush=True)
    return None


def become(request):
    os.environ.update(request["environment"])
    for stream, name, mode in ((0, os.devnull, os.O_RDONLY), (1, request["output"] + ".out", os.O_WRONLY | os.O_CREAT),
                               (2, request["output"] + ".err", os.O_WRONLY | os.O_CREAT)):
        file = os.open(name, mode, 0o600)
        os.dup2(file, stream)
        os.close(file)
    sys.argv = request["argv"]
    sys.path[0] = os.path.dirname(sys.argv[0])
    end(run(sys.argv[0]))


def run(path):
    """Runs a program as Python does; returns its exit status."""
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as exit:
        return 0 if exit.code is None else exit.code if isinstance(exit.code, int) else 1
    except BaseException as error:
        sys.last_value = error
        traceback.print_exc()
        return 1
    return 0


def end(status):
    """Ends as Python does, but for freeing all modules, which takes 2 s."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    for name in MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # else the collector of each process copies all pages of the modules
    print("ready", flush=True)
    request = serve()
    if request is not None:
        become(request)
