#pragma once

#include <filesystem>
#include <vector>

#include "core/store/run_reader.h"
#include "tests/app/cli/cli_program.h"

namespace batchscope::test {

/// The runs in the program's database; none before it has made one.
inline std::vector<store::RunRow> rows_of(const CliProgram& program) {
  const std::string file = program.path("default.db").toStdString();
  return std::filesystem::exists(file) && std::filesystem::file_size(file) > 0 ? store::RunReader(file).list()
                                                                               : std::vector<store::RunRow>{};
}

} // namespace batchscope::test
