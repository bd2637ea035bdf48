#pragma once

#include <string>

namespace batchscope {

/// Loads a shared library of the program that lies beside core's, and returns its C function `name`. The library is
/// loaded once and stays loaded. Throws Error (unavailable) if it, or a library that it needs, cannot be loaded. Any
/// thread.
void* load_part(const std::string& library, const char* name);

} // namespace batchscope
