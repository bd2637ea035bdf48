#pragma once

#include <exception>
#include <string>

namespace batchscope::memory {

/// Decides whether an exception from LibTorch means "out of memory": by type, then by error code, then by text
/// (TorchScript rethrows everything as std::runtime_error; cuBLAS and cuDNN hide theirs). For ambiguous texts it is
/// whether the allocator refused a request during the step (`refused_meanwhile`). The only place that decides this.
bool is_out_of_memory(const std::exception& error, bool refused_meanwhile);

/// First line of a LibTorch message, without the stack trace.
std::string first_line(const std::exception& error);

} // namespace batchscope::memory
