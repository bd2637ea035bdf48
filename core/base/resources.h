#pragma once

#include <filesystem>

namespace batchscope {

/// The folder of the files shipped with the program (demo/, translations/): $BATCHSCOPE_RESOURCES if set, else
/// ../share/batchscope relative to the executable's folder if that exists (an installed program), else the source
/// tree's.
std::filesystem::path resources_folder();

/// The first page of the manual: as HTML beside an installed program or where `make docs` puts it, else as text in the
/// source tree; empty if there is none.
std::filesystem::path manual();

} // namespace batchscope
