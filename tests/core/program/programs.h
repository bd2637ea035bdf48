#pragma once

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/program/process/child.h"

namespace batchscope::test {

/// Long enough for a busy machine with sanitizers; reached by a test that fails only. Milliseconds.
inline constexpr int patience = 60'000;

/// Programs to start, and where their output goes.
class Programs {
public:
  std::filesystem::path path(const std::string& name = {}) const {
    return std::filesystem::path(folder_.path().toStdString()) / name;
  }

  program::ChildStart start(const std::vector<std::string>& command) const {
    program::ChildStart start;
    start.command = command;
    start.output = path("output");
    return start;
  }
  program::ChildStart python(const std::string& source) const { return start({"python3", "-c", source}); }
  program::ChildStart shell(const std::string& source) const { return start({"/bin/sh", "-c", source}); }

  std::string output() const {
    std::ifstream stream(path("output"), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

private:
  QTemporaryDir folder_;
};

/// Waits until the program has ended.
inline program::Exit wait_for(program::Child& child) {
  std::optional<program::Exit> exit;
  [&] { QTRY_VERIFY_WITH_TIMEOUT((exit = child.poll()), patience); }();
  return exit.value_or(program::Exit());
}

} // namespace batchscope::test
