"""People's own programs with torch on the device: what they take beside a pretended GPU, and what attaching changes."""

from concurrent.futures import ThreadPoolExecutor

from facts import PROGRAM, card_of
from memory import compared
from place import Failed, NotRun, Runs, on_pretended, torch_program

DETERMINISTIC = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}  # what torch asks for
PROGRAMS = [("gpt", 4, "fp32"), ("gpt", 12, "bf16"), ("encoder", 32, "bf16"), ("conv", 256, "bf16")]
# With --long; where the Python has their packages.
MORE_PROGRAMS = [("gpt", 4, "bf16"), ("encoder", 32, "fp32"), ("conv", 64, "fp32"), ("lstm", 64, "fp32"),
                 ("hf_gpt2", 4, "bf16"), ("hf_gpt2", 12, "bf16"), ("hf_gpt2_checkpointed", 12, "bf16"),
                 ("hf_bert", 16, "fp32"), ("hf_bert", 32, "bf16"), ("hf_llama", 4, "bf16"), ("hf_vit", 64, "bf16"),
                 ("resnet50", 64, "fp32"), ("resnet50", 256, "fp32"), ("resnet50", 256, "bf16"),
                 ("vit_b_16", 64, "bf16")]


def measured(place, name, batch, precision, environment=None):
    return torch_program(place, PROGRAM, "peak", name, str(batch), precision, place.device, environment=environment)


def programs_against_real(place):
    """Peak of a program's training on the device and on a pretended one, by the same Python."""
    rows, problems = [], []
    environment = on_pretended(place, card_of(place), python=True)
    programs = PROGRAMS + (MORE_PROGRAMS if place.long else [])
    with ThreadPoolExecutor(4) as pretended:
        # These take no time of the GPU, so they run beside.
        beside = {program: pretended.submit(tried, place, *program, environment) for program in programs}
        for program in programs:
            real, there = tried(place, *program), beside[program].result()
            row = {"program": " ".join(map(str, program)), **compared(real, there)}
            rows.append(row)
            if "error" in there and "error" not in real:
                problems.append(f"{row['program']}: on the pretended GPU: {there['error']}")
    off = [abs(row["allocated_off"]) for row in rows if "allocated_off" in row]
    return {"rows": rows, "compared": len(off), "largest_error": max(off, default=None)}, problems


def tried(place, *program):
    try:
        return measured(place, *program)
    except Failed as error:
        return {"error": str(error)}


def attached(place):
    """Weights, random numbers and time of a step of a program that is attached to, and of the same program alone."""
    figures, problems = {}, []
    programs = [("small_gpt", 32, 300), ("conv", 32, 60), ("encoder", 16, 40)]
    for name, batch, steps in programs[: 3 if place.long else 1]:
        arguments = ["loop", name, str(batch), str(steps), place.device]
        alone, again = (torch_program(place, PROGRAM, *arguments, environment=DETERMINISTIC) for _ in range(2))
        if alone["weights"] != again["weights"]:
            figures[name] = {"alone": alone, "alone_again": again}
            continue  # its kernels add in any order, so that nothing can be told from its weights
        runs = Runs(place, DETERMINISTIC)
        done = runs.start("run", "--attach", "auto", "--json", "--device", place.device, "--", place.python, PROGRAM,
                          *arguments)
        if done.returncode:
            problems.append(f"{name}: status {done.returncode}: {done.stderr.strip()[-300:]}")
            continue
        summary = runs.json("show", "1")["summary"]
        here = told(runs)
        same = here and (alone["weights"], alone["random"]) == (here["weights"], here["random"])
        figures[name] = {"alone": alone, "alone_again": again, "attached": here, "same": bool(same),
                         "steps": summary["steps"],
                         "peak_bytes": summary["peak_bytes"]}
        if not same:
            problems.append(f"{name}: other weights or random numbers than alone")
    return figures, problems


def told(runs):
    """What the program of run 1 printed in its last line."""
    import glob
    import json
    for file in glob.glob(runs.file("**/*"), recursive=True):
        if "output" in file and file.endswith((".txt", ".log", "output")):
            with open(file, encoding="utf-8", errors="replace") as opened:
                for line in reversed(opened.read().splitlines()):
                    if line.startswith('{"weights"'):
                        return json.loads(line)
    return None


def searched(place):
    """The sizes that a search finds for an unchanged program, and whether they hold in fresh runs."""
    if not place.python:
        raise NotRun("no Python with torch for this GPU was given (--python)")
    rows, problems = [], []
    for name, budget in (("small_gpt", "2GB"), ("conv", "6GB"), ("gpt", "20GB"))[: 3 if place.long else 1]:
        runs = Runs(place)
        options = ["--attach", "auto", "--device", place.device, "--memory-budget", budget]
        program = ["--", place.python, PROGRAM, "loop", name, "4"]
        answer = runs.json("find", *options, *program, "1000000", place.device, limit=240)
        row = {"program": name, "budget": budget,
               **{key: answer.get(key) for key in ("largest", "largest_is", "safe", "recommended", "reason")},
               "probes": [[probe.get("batch"), probe.get("outcome"), probe.get("peak_bytes"),
                           probe.get("predicted_bytes")] for probe in answer.get("probes", [])]}
        rows.append(row)
        if not answer.get("largest"):
            problems.append(f"{name}: nothing was found: {answer.get('reason')}")
            continue
        for key, size in (("largest_fits", answer["largest"]), ("one_more_fits", answer["largest"] + 1)):
            done = Runs(place).start("run", *options, "--batch", str(size), "--on-oom", "fail", *program, "6",
                                     place.device)
            row[key] = done.returncode == 0
            if done.returncode:
                row[key + "_error"] = done.stderr.strip()[-200:]
        if not row["largest_fits"]:
            problems.append(f"{name}: {answer['largest']} was found and does not fit in a fresh run")
    return {"searches": rows}, problems
