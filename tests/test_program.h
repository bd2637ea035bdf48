#pragma once

#include <QObject>

#include <memory>
#include <string>

namespace batchscope::test {

/// One file of tests in the program of its folder, which is started as `PROGRAM NAME [ARGUMENTS OF QT TEST]`, where
/// NAME is the file's without tst_ and .cpp. Each runs in a process of its own, so files share no state.
struct TestFile {
  const char* path; ///< __FILE__
  std::unique_ptr<QObject> (*make)();
  /// Called first, before the application object exists, with the arguments after NAME (arguments[0] is the program).
  /// Not negative: the process ends with that status, because a test started it to be something else.
  int (*before)(int count, char** arguments) = nullptr;
};

/// Whether this is built for a sanitizer, which makes everything several times as long. Of what is only repeated with
/// other values, one case is enough for it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// NAME as this process was started with.
std::string name_of_tests();

/// Called before main(). Returns true so that it can initialize a variable.
bool add(const TestFile& file);

} // namespace batchscope::test

/// Instead of Qt Test's QTEST_MAIN: `Class` holds the tests of this file. A second argument is TestFile::before.
#define BATCHSCOPE_TEST(Class, ...)                                                                                    \
  [[maybe_unused]] static const bool Class##_is_known = batchscope::test::add(                                         \
      {__FILE__, []() -> std::unique_ptr<QObject> { return std::make_unique<Class>(); } __VA_OPT__(, ) __VA_ARGS__});
