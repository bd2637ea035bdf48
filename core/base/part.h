#pragma once

#include <string>

namespace batchscope {

/// Loads a part of the program that is a shared library of its own, beside core's, and returns its C function `name`.
/// A part is loaded once and stays. Throws Error (unavailable) where it, or a library that it needs, cannot be loaded.
/// Any thread.
void* load_part(const std::string& library, const char* name);

} // namespace batchscope
