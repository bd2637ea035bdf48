#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "core/base/error.h"
#include "core/memory/device.h"

namespace batchscope::memory {

/// Decides whether an exception from LibTorch means "out of memory": by type, then by error code, then by text
/// (TorchScript rethrows everything as std::runtime_error; cuBLAS and cuDNN hide theirs). Texts that also other faults
/// end with mean it if was_short(). The only place that decides this.
bool is_out_of_memory(const std::exception& error, bool memory_was_short);

/// Whether the device's allocator has refused a request since it had refused `refused_before`, or has nearly nothing
/// left to serve the libraries that ask the driver themselves.
bool was_short(const Device& device, std::uint64_t refused_before);

/// First line of a LibTorch message, without the stack trace; and that the program is to be restarted, if the error has
/// ended what the process can do on its GPU.
std::string first_line(const std::exception& error);

/// Whether each call of CUDA in this process fails after this error of its runtime.
bool loses_device(int cuda_error);

/// Advice to the user after such an error, as the end of a message.
inline constexpr const char* restart_advice = "; nothing more can be done on this GPU before BatchScope is restarted";

/// The same as core's own error: `device_lost` if it has, else `failed`.
Error failure(const std::exception& error);

} // namespace batchscope::memory
