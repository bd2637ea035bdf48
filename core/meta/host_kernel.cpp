#include "core/meta/detail/host_kernel.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "core/memory/detail/block_counter.h"
#include "core/memory/detail/budget_allocator.h"

namespace batchscope::meta {

namespace {

/// Kernels are learnt with the number of examples asked for, or, above the first of these, with a smaller number that
/// they treat alike; see examples_to_learn_with().
constexpr std::int64_t enough_examples = 67;
constexpr std::int64_t fewest_examples = 5;
/// Bounds of one run: of the elements of its largest tensor, and of its operations.
constexpr std::int64_t max_elements = 1 << 22;
constexpr std::int64_t max_operations = 1 << 29;
/// Kernels of small images divide large batches in other ways, but are quick: below these bounds, more examples.
constexpr std::int64_t few_elements = 1 << 21;
constexpr std::int64_t few_operations = 1 << 29;
constexpr std::int64_t most_examples = 509;
constexpr std::size_t many_events = 64;   ///< of one call
constexpr std::size_t max_kernels = 4096; ///< remembered; beyond, all are forgotten
constexpr int enough_of_a_family = 3;     ///< learnt to use no memory, until it is believed of all

struct HostBlock {
  std::uint64_t bytes = 0;
  int output = -1; ///< the output that it becomes, or -1 for workspace
};

struct HostEvent {
  std::size_t block = 0;
  bool allocates = true;
};

struct HostKernel {
  std::vector<HostBlock> blocks;
  std::vector<HostEvent> events;
};

/// The blocks that are left when the kernel returns are its outputs, recognized by their size.
void name_outputs(HostKernel& kernel, const std::vector<at::Tensor>& outputs) {
  std::vector<bool> alive(kernel.blocks.size(), false);
  for (const HostEvent& event : kernel.events)
    alive[event.block] = event.allocates;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined())
      continue;
    for (std::size_t block = 0; block < alive.size(); ++block) {
      if (alive[block] && kernel.blocks[block].bytes == outputs[i].storage().nbytes()) {
        kernel.blocks[block].output = static_cast<int>(i);
        alive[block] = false;
        break;
      }
    }
  }
}

/// With the blocks that are alive at the kernel's peak, and its outputs, only. The 16-bit attention calls kernels of
/// its own for each example and head, each with workspace, and traces that have more events for more examples do not
/// align.
HostKernel at_its_peak(const HostKernel& kernel) {
  std::vector<bool> alive(kernel.blocks.size(), false), kept = alive;
  std::uint64_t bytes = 0, most = 0;
  for (const HostEvent& event : kernel.events) {
    const std::uint64_t size = memory::rounded_up(kernel.blocks[event.block].bytes);
    alive[event.block] = event.allocates;
    bytes = event.allocates ? bytes + size : bytes - size;
    if (bytes > most) {
      most = bytes;
      kept = alive;
    }
  }
  HostKernel small;
  for (std::size_t block = 0; block < kept.size(); ++block) {
    if (!kept[block] && kernel.blocks[block].output < 0)
      continue;
    small.events.push_back({small.blocks.size(), true});
    small.blocks.push_back(kernel.blocks[block]);
  }
  for (std::size_t block = 0; block < small.blocks.size(); ++block) {
    if (small.blocks[block].output < 0)
      small.events.push_back({block, false});
  }
  return small;
}

HostKernel learn(std::int64_t examples, const PrepareKernel& prepare) {
  memory::BlockCounter counter;
  HostKernel kernel;
  const at::NoGradGuard no_grad;
  const memory::NotCounted own(&counter);
  const RunKernel run = prepare(examples);
  run(); // the first time, kernels fill caches of their own
  counter.start_trace();
  std::vector<at::Tensor> outputs = run();
  const telemetry::Trace trace = counter.stop_trace();
  for (const telemetry::TraceEvent& event : trace.events) {
    if (event.block == telemetry::block_from_before)
      continue;
    kernel.events.push_back({event.block, event.allocates});
    if (event.allocates)
      kernel.blocks.push_back({event.bytes});
  }
  name_outputs(kernel, outputs);
  outputs.clear(); // while `counter` exists
  return kernel.events.size() > many_events ? at_its_peak(kernel) : kernel;
}

bool has_workspace(const HostKernel& kernel) {
  return std::any_of(kernel.blocks.begin(), kernel.blocks.end(),
                     [](const HostBlock& block) { return block.output < 0; });
}

/// Known kernels, for all threads of the process.
class KnownKernels {
public:
  std::shared_ptr<const HostKernel> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(key);
    return found == kernels_.end() ? nullptr : found->second;
  }
  bool uses_none(const std::string& family) const {
    const std::lock_guard lock(mutex_);
    const auto found = without_workspace_.find(family);
    return found != without_workspace_.end() && found->second >= enough_of_a_family;
  }
  void add(const std::string& key, const std::string& family, std::shared_ptr<const HostKernel> kernel) {
    const std::lock_guard lock(mutex_);
    if (!family.empty() && has_workspace(*kernel))
      without_workspace_[family] = std::numeric_limits<int>::min(); // never believed
    else if (!family.empty() && without_workspace_[family] < enough_of_a_family)
      ++without_workspace_[family];
    if (kernels_.size() >= max_kernels)
      kernels_.clear();
    kernels_[key] = std::move(kernel);
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const HostKernel>> kernels_; ///< guarded by mutex_
  std::map<std::string, int> without_workspace_;                     ///< kernels by family; guarded by mutex_
};

KnownKernels& known_kernels() {
  static KnownKernels kernels;
  return kernels;
}

thread_local LearningScope* scope = nullptr;

/// How a kernel divides its work among threads depends on the common divisors of their number and the examples', and so
/// does its workspace. A number with the same divisors times a prime keeps that, and shows what grows with the batch:
/// the blocks whose size it divides (those of weights would have to have the prime as a factor). 0 if even the fewest
/// examples would take too long.
std::int64_t examples_to_learn_with(const HostKernelCall& call) {
  const auto within = [&](std::int64_t elements, std::int64_t operations) {
    return std::min(elements / std::max<std::int64_t>(call.elements, 1),
                    operations / std::max<std::int64_t>(call.operations, 1));
  };
  const std::int64_t wanted = std::min(std::clamp(within(few_elements, few_operations), enough_examples, most_examples),
                                       within(max_elements, max_operations));
  if (call.examples <= wanted)
    return call.examples;
  if (wanted < fewest_examples)
    return 0;
  std::int64_t divisor = 1;
  for (std::int64_t threads = at::get_num_threads(); threads > 1; --threads)
    divisor = std::lcm(divisor, std::gcd(call.examples, threads));
  for (const std::int64_t prime : {5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 127, 257, 509}) {
    if (divisor * prime >= wanted)
      return std::min(divisor * prime, call.examples);
  }
  return call.examples;
}

} // namespace

LearningScope::LearningScope(Learning learning) : before_(std::exchange(scope, this)), learning_(learning) {}
LearningScope::~LearningScope() {
  scope = before_;
}

bool counts_host_workspace() {
  return scope == nullptr || scope->learning_ != Learning::none;
}

std::vector<at::Tensor> like_host_kernel(const HostKernelCall& call) {
  const auto output = [&](std::size_t i) {
    return at::empty(call.outputs[i].sizes, at::TensorOptions(call.outputs[i].type).device(at::kMeta));
  };
  std::vector<at::Tensor> made(call.outputs.size());
  const Learning learning = scope != nullptr ? scope->learning_ : Learning::all;
  const bool needless = learning == Learning::none || (!call.family.empty() && known_kernels().uses_none(call.family));
  const std::int64_t learnt = needless ? 0 : examples_to_learn_with(call);
  const std::string key = call.key + c10::toString(call.type) + " x" + std::to_string(learnt);
  auto kernel = learnt > 0 ? known_kernels().find(key) : nullptr;
  if (!kernel && learnt > 0 && learning == Learning::known_only) {
    scope->missed_ = true;
  } else if (!kernel && learnt > 0) {
    kernel = std::make_shared<const HostKernel>(learn(learnt, call.prepare));
    known_kernels().add(key, call.family, kernel);
  }
  if (kernel) {
    const auto workspace = [&](std::uint64_t bytes) {
      const bool grows = bytes % (static_cast<std::uint64_t>(learnt) * c10::elementSize(call.type)) == 0;
      const auto now = static_cast<std::int64_t>(bytes);
      return at::empty({grows ? now / learnt * call.examples : now}, at::TensorOptions(at::kByte).device(at::kMeta));
    };
    std::vector<at::Tensor> blocks(kernel->blocks.size());
    for (const HostEvent& event : kernel->events) {
      const HostBlock& block = kernel->blocks[event.block];
      if (!event.allocates)
        blocks[event.block].reset();
      else if (block.output >= 0)
        made[static_cast<std::size_t>(block.output)] = output(static_cast<std::size_t>(block.output));
      else
        blocks[event.block] = workspace(block.bytes);
    }
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i].defined() && !call.outputs[i].sizes.empty())
      made[i] = output(i);
  }
  return made;
}

} // namespace batchscope::meta
