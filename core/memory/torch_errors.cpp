#include "core/memory/detail/torch_errors.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <string_view>

#include <c10/util/Exception.h>

#include "core/base/shortage.h"

namespace batchscope::memory {

namespace {

constexpr int cuda_error_memory_allocation = 2; // cudaErrorMemoryAllocation
/// Errors after which each call of CUDA in the process fails, as driver_types.h says of them: ECC, illegal address,
/// launch timeout, assertion, hardware stack, illegal instruction, misaligned address, address space, program counter,
/// launch failure.
constexpr std::array lasting = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719};

bool has_lost_device(const std::exception& error) {
  if (const auto* own = dynamic_cast<const Error*>(&error))
    return own->kind() == Error::Kind::device_lost;
  const auto* accelerator = dynamic_cast<const c10::AcceleratorError*>(&error);
  return accelerator != nullptr && loses_device(accelerator->get_error_code());
}

/// TorchScript's interpreter turns every exception into a runtime_error: a trace of the script, then a line such as
/// `RuntimeError: what happened`. Empty for any other text.
std::string line_of_script(const std::string& text) {
  if (text.find("TorchScript interpreter") == std::string::npos)
    return {};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view mark = "Error: ";
    const std::size_t at = line.find(mark);
    if (!line.starts_with(' ') && at != std::string::npos)
      return line.substr(at + mark.size());
  }
  return {};
}

} // namespace

bool is_out_of_memory(const std::exception& error, bool memory_was_short) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return true;
  if (const auto* accelerator = dynamic_cast<const c10::AcceleratorError*>(&error))
    return accelerator->get_error_code() == cuda_error_memory_allocation;
  const auto shortage = shortage_in(error.what());
  return shortage && (shortage->sign == Shortage::Sign::certain || memory_was_short);
}

bool was_short(const Device& device, std::uint64_t refused_before) {
  const Readings now = device.readings();
  if (now.refused > refused_before)
    return true;
  if (!now.device_wide)
    return false;
  const auto free = static_cast<double>(device.available());
  return is_nearly_full(free, free + static_cast<double>(*now.device_wide));
}

std::string first_line(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  const std::string script_error = line_of_script(text);
  const std::string line = script_error.empty() ? text.substr(0, text.find('\n')) : script_error;
  const bool says_so = dynamic_cast<const Error*>(&error) != nullptr;
  return says_so || !has_lost_device(error) ? line : line + restart_advice;
}

bool loses_device(int cuda_error) {
  return std::ranges::find(lasting, cuda_error) != lasting.end();
}

Error failure(const std::exception& error) {
  return {has_lost_device(error) ? Error::Kind::device_lost : Error::Kind::failed, first_line(error)};
}

} // namespace batchscope::memory
