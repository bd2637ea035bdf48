#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <iostream>

#include "core/base/resources.h"
#include "test_program.h"

using namespace batchscope;

class ResourcesTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() { qunsetenv("BATCHSCOPE_RESOURCES"); }

  void takesTheSourceTreesWhereNoneIsInstalled() {
    QCOMPARE(resources_folder(), std::filesystem::path(BATCHSCOPE_SOURCE_DIR) / "resources");
    QVERIFY(std::filesystem::exists(resources_folder() / "demo"));
  }

  void takesTheInstalledOneBesideTheProgram() {
    // A copy of this program, installed somewhere: it says what it finds.
    QTemporaryDir prefix;
    QDir(prefix.path()).mkpath("bin");
    QDir(prefix.path()).mkpath("share/batchscope");
    QVERIFY(QFile::copy(QCoreApplication::applicationFilePath(), prefix.filePath("bin/program")));
    QProcess program;
    program.start(prefix.filePath("bin/program"), {QString::fromStdString(test::name_of_tests()), "--say"});
    QVERIFY(program.waitForFinished());
    QCOMPARE(QString::fromUtf8(program.readAllStandardOutput()), prefix.filePath("share/batchscope"));
  }

  void knowsWhereTheManualIs() {
    const std::filesystem::path source = std::filesystem::path(BATCHSCOPE_SOURCE_DIR);
    QVERIFY(manual() == source / "docs" / "index.md" || manual() == source / "build" / "docs" / "index.html");
    const QTemporaryDir prefix;
    qputenv("BATCHSCOPE_RESOURCES", prefix.filePath("share/batchscope").toUtf8());
    QVERIFY(manual().empty());
    QVERIFY(QDir(prefix.path()).mkpath("share/doc/batchscope"));
    QFile page(prefix.filePath("share/doc/batchscope/index.html"));
    QVERIFY(page.open(QFile::WriteOnly));
    QCOMPARE(manual(), std::filesystem::path(page.fileName().toStdString()));
  }

  void theEnvironmentGoesFirst() {
    qputenv("BATCHSCOPE_RESOURCES", "/some/where");
    QCOMPARE(resources_folder(), std::filesystem::path("/some/where"));
    qputenv("BATCHSCOPE_RESOURCES", "");
    QVERIFY(resources_folder() != std::filesystem::path());
    qunsetenv("BATCHSCOPE_RESOURCES");
  }
};

static int say_folder(int count, char** arguments) {
  if (count != 2 || QByteArray(arguments[1]) != "--say")
    return -1;
  std::cout << resources_folder().string();
  return 0;
}

BATCHSCOPE_TEST(ResourcesTest, say_folder)
#include "tst_resources.moc"
