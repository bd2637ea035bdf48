"""What training takes on the device, beside the same training on a pretended GPU and what a search predicts."""

from concurrent.futures import ThreadPoolExecutor

from facts import card_of
from place import Failed, Runs, on_pretended

IMAGES = "synthetic:examples=400,shape=3x32x32,classes=10"
TEXTS = "synthetic:examples=400,vocabulary=5000"
MODELS = {
    "mlp": ("mlp:hidden=2048", IMAGES),
    "cnn": ("cnn:width=32", IMAGES),
    "resnet": ("resnet:width=32", IMAGES),
    "vit": ("vit:layers=4,heads=4,width=256,patch=4", IMAGES),
    "gpt": ("gpt:layers=4,heads=4,width=256,context=256", TEXTS),
    "llama": ("llama:layers=4,heads=4,kv-heads=2,width=256,context=256", TEXTS),
    "bert": ("bert:layers=4,heads=4,width=256,context=256", TEXTS),
}
# GPT-2's smallest size, with all of its vocabulary.
GPT_124M = ("gpt:layers=12,heads=12,width=768,context=1024", "synthetic:examples=150,vocabulary=50257")
RESNET_LARGE = ("resnet:width=128", "synthetic:examples=1500,shape=3x224x224,classes=10")


def swept(runs, device, model, data, vary):
    """Peak of allocated and of reserved bytes of each combination, of a sweep in one process."""
    options = [option for setting in vary for option in ("--vary", setting)]
    done = runs.start("sweep", "--device", device, "--model", model, "--data", data, "--steps", "3", "--quiet",
                      *options)
    if done.returncode:
        raise Failed(f"sweep of {model}: {done.stderr.strip().splitlines()[-1:]}")
    found = {}
    for run in runs.json("list")["runs"]:
        if run["status"] == "finished":
            series = runs.series(run["id"])
            found[run["name"]] = {"allocated": int(max(series["peak_bytes"])),
                                  "reserved": int(max(series["reserved_bytes"]))}
        else:
            found[run["name"]] = {"status": run["status"]}
    return found


def beside_pretended(place, model, data, vary):
    """Rows of one model: what the device took, what a pretended one took."""
    card = card_of(place)
    here, there = Runs(place), Runs(place, on_pretended(place, card))
    with ThreadPoolExecutor(2) as both:
        real = both.submit(swept, here, place.device, model, data, vary)
        pretended = both.submit(swept, there, place.device, model, data, vary)
        real, pretended = real.result(), pretended.result()
    rows = []
    for name, took in real.items():
        rows.append({"model": model, "settings": name, **compared(took, pretended.get(name, {}))})
    return rows


def compared(device, pretended):
    """What both took, and the errors of the pretended one as fractions, of what is known of both."""
    return {"device": device, "pretended": pretended,
            **{f"{which}_off": pretended[which] / device[which] - 1
               for which in ("allocated", "reserved") if device.get(which) and pretended.get(which)}}


def pretended_against_real(place):
    rows = []
    for model, data in MODELS.values():
        rows += beside_pretended(place, model, data, ["batch=16,48,128", "precision=fp32,bf16", "dropout=0,0.1",
                                                      "checkpointing=false,true"])
    return of_rows(rows)


def large_against_real(place):
    rows = beside_pretended(place, *GPT_124M, ["batch=4,12", "precision=fp32,bf16", "checkpointing=false,true"])
    rows += beside_pretended(place, *RESNET_LARGE, ["batch=32,96", "precision=fp32,bf16"])
    return of_rows(rows)


def of_rows(rows):
    problems = [f"{row['model']}, {row['settings']}: {row['device']}" for row in rows if "status" in row["device"]]
    off = [abs(row["allocated_off"]) for row in rows if "allocated_off" in row]
    return {"rows": rows, "compared": len(off), "largest_error": max(off, default=None),
            "within_0.1_percent": sum(value <= 0.001 for value in off),
            "within_2_percent": sum(value <= 0.02 for value in off)}, problems


def found_sizes(place):
    """At 25 and 80 % of the card: the largest size fits in a fresh run from its first step on, one more does not."""
    figures, problems = [], []
    memory = card_of(place).memory_bytes
    searches = [(*GPT_124M, "bf16", 0.25), (*GPT_124M, "fp32", 0.8), (*RESNET_LARGE, "bf16", 0.25)]
    if place.long:
        searches += [(*GPT_124M, "bf16", 0.8), (*GPT_124M, "fp32", 0.25), (*RESNET_LARGE, "bf16", 0.8)]
    for model, data, precision, share in searches:
        runs = Runs(place)
        budget = f"{int(memory * share) // 1_000_000}MB"
        options = ["--device", place.device, "--model", model, "--data", data, "--precision", precision,
                   "--memory-budget", budget]
        answer = runs.json("find", *options, *([] if place.long else ["--no-timings"]), limit=200)
        largest = answer["largest"]
        row = {"model": model, "precision": precision, "budget": budget, "largest": largest,
               "largest_is": answer["largest_is"], "safe": answer["safe"], "recommended": answer["recommended"],
               "reason": answer["reason"],
               "probes": [[probe["batch"], probe["outcome"], probe["peak_bytes"], probe["predicted_bytes"]]
                          for probe in answer["probes"]],
               "out_of_memory": sum(probe["outcome"] != "fits" for probe in answer["probes"])}
        for name, batch in (("largest_fits", largest), ("one_more_fits", largest + 1)):
            done = runs.start("train", *options, "--batch", str(batch), "--steps", "4", "--on-oom", "fail", "--quiet")
            row[name] = done.returncode == 0
        if not row["largest_fits"]:
            problems.append(f"{model} {precision}, {budget}: {largest} was found and does not fit in a fresh run")
        if row["one_more_fits"] and answer["largest_is"] == "exact":
            problems.append(f"{model} {precision}, {budget}: {largest + 1} fits, too")
        figures.append(row)
    return {"searches": figures}, problems


def changing_sizes(place):
    """A schedule that jumps between 1 and far more than fits: every step is made, and nothing is left behind."""
    runs = Runs(place)
    summary = runs.train(*GPT_124M, "--precision", "bf16", "--memory-budget", "12GB", "--batch", "1", "--schedule",
                         "formula:1 + 99 * (sin(step) > 0)", "--steps", "60", "--drop-last", limit=400)
    series = summary["series"]
    allocated = series["allocated_bytes"]
    figures = {"steps": summary["steps"], "out_of_memory": summary["oom_events"], "seconds": summary["seconds"],
               "batch": series["batch"][:8], "micro_batches": series["micro_batches"][:8],
               "allocated_after_step_2": allocated[1], "allocated_at_the_end": allocated[-2 + len(allocated) % 2],
               "reserved_highest": max(series["reserved_bytes"])}
    problems = []
    if summary["status"] != "finished" or summary["steps"] != 60:
        problems.append(f"{summary['status']} after {summary['steps']} of 60 steps")
    if figures["allocated_at_the_end"] > figures["allocated_after_step_2"]:
        problems.append("more was allocated at the end than after step 2")
    return figures, problems
