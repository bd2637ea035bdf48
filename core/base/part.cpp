#include "core/base/part.h"

#include <filesystem>

#include <dlfcn.h>

#include "core/base/error.h"

namespace batchscope {

std::filesystem::path parts_folder() {
  Dl_info core{};
  if (::dladdr(reinterpret_cast<const void*>(&load_part), &core) == 0 || core.dli_fname == nullptr)
    throw Error(Error::Kind::unavailable, "cannot find the folder of the program's libraries");
  return std::filesystem::path(core.dli_fname).parent_path();
}

void* load_part(const std::string& library, const char* name) {
  const auto file = parts_folder() / library;
  void* part = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); // reference-counted; never closed
  void* function = part != nullptr ? ::dlsym(part, name) : nullptr;
  if (function == nullptr)
    throw Error(Error::Kind::unavailable, std::string("cannot load a library of the program: ") + ::dlerror());
  return function;
}

} // namespace batchscope
