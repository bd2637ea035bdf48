#pragma once

#include <string>
#include <vector>

#include "core/telemetry/events.h"
#include "core/telemetry/message.h"

// At least one event of each kind, with what the terminal says of it.
namespace batchscope::telemetry::test {

struct Sample {
  EventBody body;
  std::string sentence;
};

inline std::vector<Sample> memory_samples() {
  using Oom = OutOfMemory;
  return {
      {Oom{.outcome = Oom::Outcome::split,
           .attempted_batch = 272,
           .requested_bytes = 51'400'000,
           .in_use_bytes = 366'200'000,
           .counts = Oom::Counts::budget,
           .reserved_bytes = 366'200'000,
           .limit_bytes = 400'000'000,
           .in_use_by = {{1, 2, 3, 4, 5, 6}},
           .phase = Phase::backward,
           .split_to = 136,
           .nominal_batch = 272,
           .accumulate = 1,
           .effective_batch = 272,
           .longest_example = 12,
           .micro_batches_before = 1,
           .micro_batches_after = 2,
           .micro_batch_before = 272,
           .examples_again = 272,
           .cause = Oom::Cause::schedule},
       "out of memory with a micro batch of 272: tried to allocate 51.4 MB; 366.2 MB in use, limit 400.0 MB; retried "
       "the "
       "same 272 examples as 2 x 136; effective batch unchanged; cause: the schedule asked for a larger batch"},
      {Oom{.where = Oom::Where::evaluation, .outcome = Oom::Outcome::smaller, .attempted_batch = 512, .split_to = 256},
       "out of memory (evaluation) with a micro batch of 512; evaluation continues with 256 examples at a time; "
       "training "
       "is not affected"},
      {Oom{.attempted_batch = 8,
           .requested_bytes = 1000,
           .in_use_bytes = 552'000'000,
           .counts = Oom::Counts::process,
           .limit_bytes = 210'000'000,
           .reason = because(Words::examples_interact, {{"relative_error", 0.03}}),
           .error = "RuntimeError: no memory",
           .rank = 1},
       "out of memory on rank 1 with a micro batch of 8: tried to allocate 1.0 kB; 552.0 MB in use by the whole "
       "process, libraries included; memory budget 210.0 MB; not split: the loss depends on the whole batch: it is not "
       "a weighted mean of its examples' losses (relative error 0.03); error: RuntimeError: no memory"},
      {Oom{.where = Oom::Where::outside, .cause = Oom::Cause::kernel},
       "out of memory; the program has ended; cause: the kernel's out-of-memory killer"},
      {Oom{.where = Oom::Where::update, .reason = because(Words::own_step)},
       "out of memory (optimizer step); the program received the error: the error is inside optimizer.step(), which "
       "may "
       "have "
       "changed a part of the weights"},
      {BudgetChange{.before_bytes = 400'000'000,
                    .asked_bytes = 300'000'000,
                    .budget_bytes = 300'000'000,
                    .applies_from_step = 5,
                    .command = 3},
       "memory budget changed from 400.0 MB to 300.0 MB"},
      {BudgetChange{
           .why = BudgetChange::Why::taken_back, .before_bytes = 1'050'000, .reason = because(Words::single_example)},
       "memory budget changed from 1.1 MB to none: the step could not be made: even one example does not fit; the "
       "budget "
       "is the earlier one again"},
      {BudgetChange{
           .why = BudgetChange::Why::follows_free_memory, .before_bytes = 2'000'000, .budget_bytes = 3'000'000},
       "memory budget changed from 2.0 MB to 3.0 MB: follows the memory that is free; --memory-budget sets a fixed "
       "one"},
      {BudgetChange{.asked_bytes = 1000, .refused = because(Words::budget_in_use, {{"in_use_bytes", 53'900}})},
       "memory budget not changed: weights and optimizer use 53.9 kB; accepted: more than that"},
      {BudgetNotKept{.reason = because(Words::evaluation), .limit_bytes = 1'000'000, .needed_bytes = 1'500'000},
       "memory budget of 1.0 MB not kept: the evaluation needs more; 1.5 MB needed"},
      {GrowingMemory{.bytes_per_step = 1'200'000, .since_step = 12, .bytes = 24'000'000},
       "memory between steps grows by 1.2 MB a step since step 12, 24.0 MB so far: tensors are being kept (possible "
       "leak)"},
      {SplitLoss{
           .mean_over = "shifted labels", .relative_error = 1e-7, .pieces = 3, .batch_norm = true, .random = true},
       "the loss of a split step is combined by numbers of labels after the first of each example; relative error "
       "measured on pieces of a step: 1e-07; 3 pieces; batch norm uses the statistics of a piece, so the result "
       "differs; "
       "random numbers of a piece differ from those of the whole"},
      {SplitLoss{.mean_over = "moon phases"}, "the loss of a split step is combined by moon phases"},
      {Retry{.attempted_batch = 8},
       "a micro batch of 8 ran out of memory while libraries compiled kernels or took buffers, and is tried again now "
       "that they have them"},
      {Retry{.attempted_batch = 8, .after = Retry::After::garbage},
       "a micro batch of 8 ran out of memory beside what only cycles of references kept of earlier steps, and is tried "
       "again without that"},
  };
}

inline std::vector<Sample> schedule_samples() {
  return {
      {ScheduleEdit{.schedule = "linear:max=64",
                    .before = "constant",
                    .batch_before = 320,
                    .batch = 344,
                    .applies_from_step = 641,
                    .command = 2},
       "schedule changed from constant to linear:max=64 from step 641 on, batch 320 to 344"},
      {ScheduleEdit{.schedule = "x", .refused = as_told("no such schedule")}, "schedule not changed: no such schedule"},
      {ScheduleEdit{.schedule = "x", .refused = because(Words::batch_not_steered, {{"why", "only-reports"}})},
       "schedule not changed: the program only reports its steps: its batch size cannot be changed"},
      {SharesEdit{.shares = "a=0.7,b=0.3", .before = "", .applies_from_step = 12},
       "shares: a=0.7,b=0.3 from step 12 on"},
      {SharesEdit{.shares = "a=2", .refused = because(Words::too_late)},
       "shares not changed: too late: the run has no further steps"},
      {Clamp{.asked = 9000, .taken = 8000}, "schedule requested 9,000, clamped to 8,000"},
      {Clamp{.what = Clamp::What::batch,
             .asked = 64,
             .taken = 16,
             .reason = because(Words::few_examples, {{"examples", 32}, {"ranks", 2}})},
       "batch size 64 clamped to 16: the program has 32 examples for 2 ranks"},
      {Clamp{.what = Clamp::What::accumulate, .asked = 9, .taken = 8}, "accumulation 9 clamped to 8"},
      {ScheduleProblem{.reason = because(Words::formula_not_a_batch, {{"value", -2.5}, {"step", 7}}), .batch = 8},
       "schedule error: the formula gives -2.5 at step 7; accepted: a batch size of at least 1"},
      {Differs{.planned_batch = 16, .planned_examples = 32, .batch = 8, .examples = 8},
       "the step took 8 examples in batches of 8; the plan was 32 in batches of 16"},
      {RateBySteps{}, "the program's own rate scheduler goes on counting steps"},
      {SchedulerFollows{.name = "OneCycleLR", .follows = "progress"}, "OneCycleLR advances by progress from now on"},
      {SchedulerFollows{.name = "OneCycleLR", .follows = "tokens"}, "OneCycleLR advances by tokens from now on"},
  };
}

inline std::vector<Sample> run_samples() {
  return {
      {UnknownEvent{.kind = "my-note", .detail_json = R"({"file":"a.pt","size":3})"}, "my-note, file: a.pt, size: 3"},
      {UnknownEvent{.kind = "my-note", .detail_json = R"({"message":"halfway"})"}, "my-note: halfway"},
      {UnknownEvent{.kind = "odd", .detail_json = "[1, 2"}, "odd"},
      {Evaluation{.loss = 0.25, .accuracy = 0.941}, "validation loss 0.25, accuracy 94.10 %"},
      {Evaluation{.accuracy = 0.5}, "validation accuracy 50.00 %"},
      {Evaluation{}, "validation"},
      {StatusChange{.status = StatusChange::Status::paused}, "paused"},
      {StatusChange{.status = StatusChange::Status::running}, "resumed"},
      {StatusChange{.status = StatusChange::Status::paused, .at = "2026-01-31T12:00:00Z"}, "paused"},
      {StatusChange{.status = StatusChange::Status::failed, .text = "no disk"}, "failed: no disk"},
      {CheckpointWritten{.bytes = 21'500, .copy_seconds = 0.001, .write_seconds = 2},
       "checkpoint: 21.5 kB written in 2.0 s; training paused for 1 ms"},
      {CheckpointWritten{.error = "the disk is full"}, "checkpoint: not written: the disk is full; training continues"},
      {WeightsWritten{.file = "w.safetensors", .bytes = 3000}, "weights: 3.0 kB written to w.safetensors"},
      {Resumed{.from_step = 12,
               .replaced_steps = 2,
               .at = "2026-01-02T03:04:05Z",
               .notes = {because(Words::made_with_other, {{"part", "threads"}, {"before", "2"}, {"now", "4"}}),
                         as_told("an earlier note")}},
       "resumed: from the checkpoint at step 12; 2 later steps are made again; threads was 2 and is 4 now, so results "
       "may differ by rounding; an earlier note"},
  };
}

inline std::vector<Sample> program_samples() {
  return {
      {ProgramConnected{.pid = 7,
                        .level = 3,
                        .client = "python 1.0.0",
                        .framework = "lightning 2.6.6",
                        .torch = "2.11.0",
                        .device = "cpu",
                        .world = 2,
                        .examples = 2000,
                        .batch = 8,
                        .accumulate = 1,
                        .given_batch = 16,
                        .name = "mine",
                        .config_json = R"({"lr":0.1})"},
       "the program has connected, lightning 2.6.6, cpu, 2,000 examples, batch 16 in place of its own 8: its batch "
       "size "
       "can be changed while it trains, and a step that runs out of memory runs again in parts, if its loss allows "
       "that"},
      {ProgramConnected{}, "the program has connected: it reports its steps"},
      {ProgramLevel{.level = 1, .reason = because(Words::iterable_dataset)},
       "the program only reports its steps: the batch size of an IterableDataset can only be set before it begins"},
      {ProgramLevel{.level = 2, .reason = {.code = "of-a-later-version", .args = {{"n", 3}}, .text = "a new reason"}},
       "a step of the program that runs out of memory is not split: a new reason"},
      {Watched{.reason = because(Words::own_loop, {{"methods", "train_step"}})},
       "the program is watched, not steered: the Trainer has a training loop of its own: train_step"},
      {ProgramExit{.exit_code = 1,
                   .status = "failed",
                   .reason = because(Words::ended_with_status, {{"exit_status", 1}, {"last_line", "KeyError"}})},
       "the program ended with exit status 1"},
      {ProgramExit{.signal = 9, .status = "failed", .reason = because(Words::killed)},
       "the program was ended by signal 9"},
      {ProgramExit{.status = "interrupted"}, "the program ended"},
      {ProgramOutput{.tail = "Traceback\n  \x1b[31mKeyError: 'x'\x1b[0m\n\n", .file = "output"},
       "the program's last line: KeyError: 'x' (all: output)"},
      {ProgramOutput{.file = "output"}, "the program's last line: none (all: output)"},
      {ProgramBye{.status = "failed", .reason = "MemoryError"}, "the program has failed: MemoryError"},
      {ProtocolFault{.reason = because(Words::not_a_message, {{"error", "not JSON"}}), .line = "garbage"},
       "a message of the program was not understood: not JSON: garbage"},
      {ProtocolFault{.by_program = true, .line = "garbage"}, "the program did not understand a message: garbage"},
      {SecondProgram{.pid = 12345, .rank = 1}, "process 12345 connected as rank 1, too; it is not listened to"},
      {Silent{.seconds = 61}, "the program has not reported a step for 1:01"},
      {NotFollowed{.reason = because(Words::batch_not_followed,
                                     {{"batch", 64}, {"why", "not-connected"}, {"option", "--attach auto"}})},
       "batch size 64 is not followed: the program has not connected to BatchScope; put {batch} into its command, or "
       "use "
       "--attach auto, or take its batches from run.loader(...) of batchscope"},
      {TimeOver{.seconds = 30}, "the program is stopped after 30 s (--max-seconds)"},
      {NoBye{}, "the program ended without a final report"},
      {LeftBehind{.processes = 3}, "the program has ended without a step, so 3 processes that it had started are ended "
                                   "with it; accepted: a program "
                                   "that stays until the training is over"},
      {Unread{.reason = because(Words::nothing_matches, {{"metric", "acc"}})},
       "--metric acc: no line of the output matches"},
      {Late{.seconds = 2}, "the program has waited 2.0 s for an answer and continued with its current size"},
      {Lost{.lines = 7}, "7 messages of the program were lost: its spill file could not be written"},
      {Lint{.reason = because(Words::counted_again, {{"step", 3}, {"after", 4}})},
       "remark: step 3 was reported after step 4, and only adds values to that step: number the steps through the "
       "whole "
       "training"},
      {Lint{.reason = because(Words::no_step_seen, {{"waited", 30}, {"option", "--attach auto"}})},
       "remark: no step was seen in the first 30 s; accepted: a Python program that trains with torch and --attach "
       "auto, "
       "reports of batchscope's client, or --metric for numbers in its output"},
      {Lint{.reason = because(Words::started_again, {{"run", 3}, {"attempted", 64}, {"batch", 32}, {"steps", 12}})},
       "remark: run 3 ran out of memory with a batch of 64 and is started again with 32: steps 1 to 12 are made again"},
      {LossScale{.factor = 2, .text = "the model ignores num_items_in_batch"},
       "the model ignores num_items_in_batch (factor 2)"},
      {LossScale{.factor = 4}, "the gradients are too large by the factor 4"},
      {ProbeResult{.batch = 8,
                   .taken = 8,
                   .fits = true,
                   .steps = 2,
                   .step_examples = 24,
                   .seconds = 0.5,
                   .first_seconds = 0.2,
                   .peak_bytes = 3'000'000,
                   .room_bytes = 100},
       "batch 8 fits, peak 3.0 MB"},
      {ProbeResult{.batch = 8, .taken = 8, .evaluation = 64, .examples = 500, .unseen = 3},
       "evaluation batch 64 does not fit"},
      {ProbeResult{.batch = 8, .evaluation = 64, .error = "ValueError: no labels"},
       "evaluation batch 64 fails: ValueError: no labels"},
  };
}

inline std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const auto& part : {memory_samples(), schedule_samples(), run_samples(), program_samples()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace batchscope::telemetry::test
