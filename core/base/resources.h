#pragma once

#include <filesystem>

namespace batchscope {

/// The folder of what comes with the program (demo/, translations/): the one that the environment's
/// BATCHSCOPE_RESOURCES names, else ../share/batchscope beside the folder of the running program where that is there
/// (an installed one), else the source tree's.
std::filesystem::path resources_folder();

} // namespace batchscope
