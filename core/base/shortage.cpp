#include "core/base/shortage.h"

#include <algorithm>
#include <array>

namespace batchscope {

namespace {

struct Text {
  const char* text;
  Shortage::Of of;
  Shortage::Sign sign = Shortage::Sign::certain;
};

using Of = Shortage::Of;
using Sign = Shortage::Sign;

/// The Python client must know the same ones: a test reads them from here.
constexpr std::array texts = {
    Text{"CUDA out of memory. Tried to allocate", Of::device},
    Text{"HIP out of memory. Tried to allocate", Of::device},
    Text{"CUDA error: out of memory", Of::device},
    Text{"CUDA driver error: out of memory", Of::device},
    Text{"CUBLAS_STATUS_ALLOC_FAILED", Of::device},
    Text{"CUSOLVER_STATUS_ALLOC_FAILED", Of::device},
    Text{"CUSPARSE_STATUS_ALLOC_FAILED", Of::device},
    Text{"CUFFT_ALLOC_FAILED", Of::device},
    Text{"CUDNN_STATUS_ALLOC_FAILED", Of::device},
    Text{"CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", Of::device},
    Text{"CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED", Of::host},
    Text{"Failed to CUDA calloc", Of::device},
    Text{"Cuda failure 'out of memory'", Of::device},
    Text{"Cuda failure 2 'out of memory'", Of::device},
    // While LibTorch makes the text of an error for want of memory, it asks NVML, which may fail in turn.
    Text{"NVML_SUCCESS == r INTERNAL ASSERT", Of::device},
    Text{"DefaultCPUAllocator: can't allocate memory", Of::host},
    Text{"DefaultCPUAllocator: not enough memory", Of::host},
    Text{"cpu: out of memory: tried to allocate", Of::host},
    Text{"std::bad_alloc", Of::host},
    Text{"can't start new thread", Of::host},
    Text{"libgomp: Thread creation failed", Of::host},
    Text{"Unable to find a valid cuDNN algorithm", Of::device, Sign::likely},
    Text{"could not create a primitive", Of::host, Sign::likely},
    Text{"could not execute a primitive", Of::host, Sign::likely},
    Text{"was unable to find an engine", Of::device, Sign::possible},
    Text{"CUBLAS_STATUS_NOT_INITIALIZED", Of::device, Sign::possible},
    Text{"CUDNN_STATUS_NOT_INITIALIZED", Of::device, Sign::possible},
    Text{"CUSOLVER_STATUS_NOT_INITIALIZED", Of::device, Sign::possible},
};

constexpr double nearly_nothing = 0.03; // of a device

} // namespace

std::optional<Shortage> shortage_in(std::string_view text) {
  const auto* found =
      std::ranges::find_if(texts, [&](const Text& known) { return text.find(known.text) != std::string_view::npos; });
  return found == texts.end() ? std::nullopt : std::optional(Shortage{found->of, found->sign});
}

bool is_nearly_full(double free, double total) {
  return free < nearly_nothing * total;
}

} // namespace batchscope
