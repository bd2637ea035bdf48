#pragma once

#include <string_view>

namespace batchscope::program {

/// The package resources/python/batchscope as one module, which training programs import (scripts/one-file-client).
std::string_view client_source();

/// The text of resources/python/sitecustomize.py, which attaches to a Trainer without a change of the program.
std::string_view attach_source();

} // namespace batchscope::program
