#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace batchscope::meta {

/// Runs a kernel with inputs that it holds, and returns its outputs.
using RunKernel = std::function<std::vector<at::Tensor>()>;
using PrepareKernel = std::function<RunKernel(std::int64_t examples)>;

struct HostOutput {
  std::vector<std::int64_t> sizes; ///< none: the output is not wanted
  at::ScalarType type = at::kFloat;
};

/// A call of a kernel of `cpu`.
struct HostKernelCall {
  std::string key;                  ///< the kernel, its type and all its shapes without the number of examples
  std::string family;               ///< of kernels that all pack what they read, or none; empty: of none
  std::int64_t examples = 1;        ///< the first dimension of what grows with the batch
  std::int64_t elements = 1;        ///< of its largest tensor, for each example
  std::int64_t operations = 1;      ///< multiplications and additions, for each example
  at::ScalarType type = at::kFloat; ///< of the inputs
  PrepareKernel prepare;            ///< makes its inputs for any number of examples
  std::vector<HostOutput> outputs;  ///< at `examples`
};

/// Makes the blocks of the call on `meta`: its outputs and the memory that the kernel uses while it runs, in the same
/// order. They are learnt by running the kernel with a few examples on the host, uncounted; later calls with the same
/// key only repeat them. Of a kernel for which that would take longer than a fraction of a second, only the outputs are
/// made; also of a family whose first few, of different shapes, were learnt to use no memory here. Any thread.
std::vector<at::Tensor> like_host_kernel(const HostKernelCall& call);

enum class Learning {
  all,
  known_only, ///< of kernels that are not known, only the outputs are made
  none        ///< of all kernels
};

/// While one exists, what like_host_kernel() does on this thread; without one, it learns all.
class LearningScope {
public:
  explicit LearningScope(Learning learning);
  ~LearningScope();
  LearningScope(const LearningScope&) = delete;
  LearningScope& operator=(const LearningScope&) = delete;

  bool missed() const { return missed_; } ///< whether a kernel was not known, with known_only

private:
  friend std::vector<at::Tensor> like_host_kernel(const HostKernelCall& call);
  friend bool counts_host_workspace();
  LearningScope* before_;
  Learning learning_;
  bool missed_ = false;
};

/// Whether the workspace of `cpu`'s kernels counts on this thread: not under Learning::none.
bool counts_host_workspace();

} // namespace batchscope::meta
