#include "test_program.h"

#include <QTest>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#ifdef QT_WIDGETS_LIB
#include <QApplication>
using Application = QApplication;
#else
#include <QCoreApplication>
using Application = QCoreApplication;
#endif

namespace batchscope::test {

namespace {

std::vector<TestFile>& files() {
  static std::vector<TestFile> all;
  return all;
}

/// `csv` of tests/core/data/tst_csv.cpp.
std::string name_of(const TestFile& file) {
  return std::filesystem::path(file.path).stem().string().substr(std::string("tst_").size());
}

std::string started_as;

int run(const TestFile& file, int count, char** arguments) {
  if (file.before != nullptr) {
    if (const int status = file.before(count, arguments); status >= 0)
      return status;
  }
#ifdef QT_WIDGETS_LIB
  QCoreApplication::setAttribute(Qt::AA_Use96Dpi); // so that pictures do not depend on the screen, as in QTEST_MAIN
#endif
  const Application application(count, arguments);
  const std::unique_ptr<QObject> tests = file.make();
  return QTest::qExec(tests.get(), count, arguments);
}

} // namespace

std::string name_of_tests() {
  return started_as;
}

bool add(const TestFile& file) {
  files().push_back(file);
  return true;
}

} // namespace batchscope::test

int main(int count, char** arguments) {
  using namespace batchscope::test;
  started_as = count > 1 ? arguments[1] : "";
  const auto file =
      std::find_if(files().begin(), files().end(), [&](const auto& each) { return name_of(each) == started_as; });
  if (file != files().end()) {
    arguments[1] = arguments[0]; // instead of the name
    return run(*file, count - 1, arguments + 1);
  }
  std::fprintf(stderr, "Give one of these, then Qt Test's own options:\n");
  for (const TestFile& each : files())
    std::fprintf(stderr, "  %s\n", name_of(each).c_str());
  return 2;
}
