#pragma once

#include <filesystem>
#include <string>

namespace batchscope {

/// The folder of core's library, in which the program's other libraries and helper programs lie. Throws Error
/// (unavailable) if it cannot be found. Any thread.
std::filesystem::path parts_folder();

/// Loads a shared library of the program that lies beside core's, and returns its C function `name`. The library is
/// loaded once and stays loaded. Throws Error (unavailable) if it, or a library that it needs, cannot be loaded. Any
/// thread.
void* load_part(const std::string& library, const char* name);

} // namespace batchscope
