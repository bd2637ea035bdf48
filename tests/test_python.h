#pragma once

#include "test_program.h"

#include <QFileInfo>
#include <QString>
#include <QTest>

namespace batchscope::test {

/// The Python with torch, transformers, accelerate and lightning that `make test` makes.
inline QString test_python() {
  return qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON");
}

inline bool has_test_python() {
  return QFileInfo(test_python()).isExecutable();
}

} // namespace batchscope::test

/// First in a test function that runs test_python(): fails without it. The sanitizers would only test the programs of
/// this project once more, and wait for Python all the time.
#define BATCHSCOPE_NEEDS_PYTHON()                                                                                      \
  do {                                                                                                                 \
    if constexpr (batchscope::test::sanitized)                                                                         \
      QSKIP("without a sanitizer only");                                                                               \
    QVERIFY2(batchscope::test::has_test_python(), "no Python with torch (BATCHSCOPE_TEST_PYTHON): run make test");     \
  } while (false)
