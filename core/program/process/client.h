#pragma once

#include <string_view>

namespace batchscope::program {

/// The text of resources/python/batchscope.py, which training programs import.
std::string_view client_source();

/// The text of resources/python/sitecustomize.py, which attaches to a Trainer without a change of the program.
std::string_view attach_source();

} // namespace batchscope::program
