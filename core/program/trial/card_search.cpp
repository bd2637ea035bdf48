#include "core/program/trial/card_search.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/pretended_gpu/rig.h"
#include "core/program/trial/command_trial.h"
#include "core/program/trial/program_search.h"

namespace batchscope::program {

namespace {

Surroundings on_card(const Surroundings& surroundings, const estimate::Target& card) {
  Surroundings there = surroundings;
  there.on_pretended_gpu = true;
  there.host_limit = host_budget();
  for (auto& variable : pretended_gpu::environment(estimate::pretended(card), pretended_gpu::Torch::python))
    there.environment.push_back(std::move(variable));
  there.environment.emplace_back("CUDA_VISIBLE_DEVICES", "0");
  there.environment.emplace_back("BATCHSCOPE_BATCHES", "again"); // of them only the shapes matter
  there.environment.emplace_back("TORCHDYNAMO_DISABLE", "1");    // what torch.compile makes would have to be run
  return there;
}

} // namespace

run::RunSpec card_spec(const run::RunSpec& spec, const estimate::Target& card) {
  if (card.name.empty())
    throw input_error("--for: a memory size says too little of a GPU for a program of your own; accepted: a name of "
                      "`estimate --cards`");
  if (card.capability < estimate::oldest_pretended)
    throw input_error(fmt::format("--for: torch has no kernels for {}, whose compute capability is {}.{}; accepted: "
                                  "cards from {}.{} on",
                                  card.name, card.capability / 10, card.capability % 10,
                                  estimate::oldest_pretended / 10, estimate::oldest_pretended % 10));
  run::RunSpec on_card = spec;
  on_card.device = "cuda:0";
  on_card.program->attach = true; // its memory can be told from inside only
  on_card.memory_budget = card.usable_bytes();
  return search_spec(on_card);
}

TriedOnCard try_on_card(const run::RunSpec& spec, const estimate::Target& card, const Surroundings& surroundings,
                        const std::vector<std::int64_t>& batches, const std::function<bool()>& stop) {
  TriedOnCard tried;
  std::unique_ptr<CommandTrial> trial;
  for (const std::int64_t batch : batches) {
    if (!trial)
      trial = open_command_trial(spec, on_card(surroundings, card), stop, batch, /*timings=*/false);
    tried.probes.push_back(trial->run({.batch = batch, .trace = true, .predicted_bytes = {}}));
    tried.examples = trial->examples();
  }
  return tried;
}

search::SearchResult find_on_card(const run::RunSpec& spec, const estimate::Target& card,
                                  const Surroundings& surroundings, run::Session::SearchOptions options,
                                  const run::Session::ProbeSink& on_probe) {
  options.timings = false;
  return find_batch(spec, on_card(surroundings, card), options, on_probe);
}

} // namespace batchscope::program
