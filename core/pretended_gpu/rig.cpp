#include "core/pretended_gpu/rig.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/part.h"
#include "core/pretended_gpu/detail/variable.h"

namespace batchscope::pretended_gpu {

namespace {

constexpr const char* folder = "pretended-gpu"; ///< beside core's library
constexpr const char* library = "libbatchscope_pretended_gpu.so";

/// In front of what the variable has now.
std::string in_front(const std::string& first, const char* variable_name) {
  const char* now = std::getenv(variable_name);
  return now != nullptr && *now != '\0' ? fmt::format("{}:{}", first, now) : first;
}

} // namespace

std::string description(const Gpu& gpu) {
  return fmt::format("name={}\nmemory={}\ncapability={}\nmultiprocessors={}\ncount={}\ncontext={}", gpu.name,
                     gpu.memory_bytes, gpu.capability, gpu.multiprocessors, gpu.count, gpu.context_bytes);
}

std::vector<std::pair<std::string, std::string>> environment(const Gpu& gpu, Torch torch) {
  const std::filesystem::path libraries = parts_folder() / folder;
  std::error_code ignored;
  if (!std::filesystem::exists(libraries / library, ignored))
    throw Error(Error::Kind::unavailable, "this torch was built without CUDA, so no GPU can be pretended");
  std::string searched = libraries.string();
  if (searched.find_first_of(":;") != std::string::npos)
    throw Error(Error::Kind::unavailable,
                fmt::format("no GPU can be pretended from \"{}\": a path that libraries are looked for in can have no "
                            "':' and no ';'",
                            searched));
  if (torch == Torch::engine)
    searched += ":" + (libraries / "cuda").string();
  // LD_PRELOAD is split at blanks: from a folder that has one, by its name alone, found in the path that follows. Else
  // in full, as a command may set that path anew.
  const bool has_blank = searched.find_first_of(" \t\n") != std::string::npos;
  return {{"LD_PRELOAD", in_front(has_blank ? library : (libraries / library).string(), "LD_PRELOAD")},
          {"LD_LIBRARY_PATH", in_front(searched, "LD_LIBRARY_PATH")},
          {variable, description(gpu)}};
}

} // namespace batchscope::pretended_gpu
