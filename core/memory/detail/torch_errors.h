#pragma once

#include <exception>
#include <string>

namespace batchscope::memory {

/// The one place that decides whether an exception out of LibTorch means "out of memory": by type, then by error
/// code, then by text (TorchScript rethrows everything as std::runtime_error; cuBLAS and cuDNN hide theirs), and for
/// texts that only hint at it by whether the allocator refused a request during the step.
bool is_out_of_memory(const std::exception& error, bool refused_meanwhile);

/// First line of a LibTorch message, without its stack trace.
std::string first_line(const std::exception& error);

} // namespace batchscope::memory
