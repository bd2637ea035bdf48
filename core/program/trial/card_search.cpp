#include "core/program/trial/card_search.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/host.h"
#include "core/pretended_gpu/rig.h"
#include "core/program/trial/command_trial.h"
#include "core/program/trial/program_search.h"

namespace batchscope::program {

namespace {

constexpr int oldest_capability = 75;        ///< for which the wheels of torch with CUDA 13 have kernels
constexpr double share_of_free_memory = 0.8; ///< of this machine

Surroundings on_card(const Surroundings& surroundings, const estimate::Target& card) {
  Surroundings there = surroundings;
  there.on_pretended_gpu = true;
  there.host_limit = static_cast<std::uint64_t>(share_of_free_memory * static_cast<double>(free_host_memory()));
  for (auto& variable : pretended_gpu::environment({.name = card.name,
                        .memory_bytes = card.memory_bytes,
                        .capability = card.capability,
                        .multiprocessors = card.multiprocessors,
                        .context_bytes = card.overhead_bytes},
                                                   pretended_gpu::Torch::python))
    there.environment.push_back(std::move(variable));
  there.environment.emplace_back("CUDA_VISIBLE_DEVICES", "0");
  there.environment.emplace_back("TORCHDYNAMO_DISABLE", "1"); // what torch.compile makes would have to be run
  return there;
}

} // namespace

run::RunSpec card_spec(const run::RunSpec& spec, const estimate::Target& card) {
  if (card.name.empty())
    throw input_error("--for: a memory size says too little of a GPU for a program of your own; accepted: a name of "
                      "`estimate --cards`");
  if (card.capability < oldest_capability)
    throw input_error(fmt::format("--for: torch has no kernels for {}, whose compute capability is {}.{}; accepted: "
                                  "cards from {}.{} on",
                                  card.name, card.capability / 10, card.capability % 10, oldest_capability / 10,
                                  oldest_capability % 10));
  run::RunSpec on_card = spec;
  on_card.device = "cuda:0";
  on_card.program->attach = true; // its memory can be told from inside only
  on_card.memory_budget = card.usable_bytes();
  return search_spec(on_card);
}

std::vector<search::Probe> try_on_card(const run::RunSpec& spec, const estimate::Target& card,
                                       const Surroundings& surroundings, const std::vector<std::int64_t>& batches,
                                       const std::function<bool()>& stop, const run::Session::ProbeSink& on_probe) {
  std::vector<search::Probe> probes;
  std::unique_ptr<CommandTrial> trial;
  for (const std::int64_t batch : batches) {
    if (!trial)
      trial = open_command_trial(spec, on_card(surroundings, card), stop, batch, /*timings=*/false);
    probes.push_back(trial->run({.batch = batch, .trace = true, .predicted_bytes = {}}));
    if (on_probe)
      on_probe(probes.back());
  }
  return probes;
}

search::SearchResult find_on_card(const run::RunSpec& spec, const estimate::Target& card,
                                  const Surroundings& surroundings, run::Session::SearchOptions options,
                                  const run::Session::ProbeSink& on_probe) {
  options.timings = false;
  return find_batch(spec, on_card(surroundings, card), options, on_probe);
}

} // namespace batchscope::program
