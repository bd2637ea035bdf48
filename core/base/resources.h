#pragma once

#include <filesystem>

namespace batchscope {

/// The folder of the files shipped with the program (demo/, translations/): $BATCHSCOPE_RESOURCES if set, else
/// ../share/batchscope relative to the executable's folder if that exists (an installed program), else the source
/// tree's.
std::filesystem::path resources_folder();

} // namespace batchscope
