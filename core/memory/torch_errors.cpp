#include "core/memory/detail/torch_errors.h"

#include <array>
#include <sstream>
#include <string>
#include <string_view>

#include <c10/util/Exception.h>

namespace batchscope::memory {

namespace {

constexpr int cuda_error_memory_allocation = 2; // cudaErrorMemoryAllocation

/// Texts that always mean out of memory.
constexpr std::array certain = {"CUDA out of memory",
                                "CUDA error: out of memory",
                                "DefaultCPUAllocator: can't allocate memory",
                                "CUBLAS_STATUS_ALLOC_FAILED",
                                "CUDNN_STATUS_ALLOC_FAILED",
                                "cpu: out of memory: tried to allocate",
                                "std::bad_alloc"};
/// Texts that may be caused by a refused request: cuDNN tries its plans in turn and ends with one of these.
constexpr std::array hints = {"Unable to find a valid cuDNN algorithm", "was unable to find an engine",
                              "could not create a primitive", "could not execute a primitive"};

template <std::size_t N> bool contains_any(std::string_view text, const std::array<const char*, N>& parts) {
  for (const char* part : parts) {
    if (text.find(part) != std::string_view::npos)
      return true;
  }
  return false;
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

bool is_out_of_memory(const std::exception& error, bool refused_meanwhile) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return true;
  if (const auto* accelerator = dynamic_cast<const c10::AcceleratorError*>(&error))
    return accelerator->get_error_code() == cuda_error_memory_allocation;
  const std::string_view text = error.what();
  return contains_any(text, certain) || (refused_meanwhile && contains_any(text, hints));
}

std::string first_line(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  const std::string script_error = line_of_script(text);
  return script_error.empty() ? text.substr(0, text.find('\n')) : script_error;
}

} // namespace batchscope::memory
