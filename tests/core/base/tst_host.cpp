#include <QTemporaryDir>
#include <QTest>

#include <fstream>

#include "core/base/host.h"
#include "test_program.h"

using namespace batchscope;

namespace fs = std::filesystem;

class TestHost : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// The tightest of a group and those around it counts; cached files can be given back.
  void knowsTheLimitsOfGroups() {
    const QTemporaryDir directory;
    const fs::path root = directory.path().toStdString();
    const auto group = [&](const char* path, const char* limit, const char* used, const char* stat) {
      fs::create_directories(root / path);
      std::ofstream(root / path / "memory.max") << limit << '\n';
      std::ofstream(root / path / "memory.current") << used << '\n';
      std::ofstream(root / path / "memory.stat") << stat;
    };
    fs::create_directories(root / "a/b"); // the outermost has no limit
    QVERIFY(!free_in_group(root, "a/b"));
    QVERIFY(!free_in_group(root, ""));
    group("a", "1000", "700", "anon 500\ninactive_file 100\n");
    QCOMPARE(free_in_group(root, "a/b"), std::optional<std::uint64_t>(400));
    group("a/b", "max", "200", "");
    QCOMPARE(free_in_group(root, "a/b"), std::optional<std::uint64_t>(400));
    group("a/b", "250", "200", "");
    QCOMPARE(free_in_group(root, "a/b"), std::optional<std::uint64_t>(50));
    group("a/b", "250", "300", "inactive_file 400\n");
    QCOMPARE(free_in_group(root, "a/b"), std::optional<std::uint64_t>(250));
    group("a/b", "250", "300", "");
    QCOMPARE(free_in_group(root, "a/b"), std::optional<std::uint64_t>(0));
  }

  void somethingIsFree() { QVERIFY(free_host_memory() > 0); }
};

BATCHSCOPE_TEST(TestHost)
#include "tst_host.moc"
