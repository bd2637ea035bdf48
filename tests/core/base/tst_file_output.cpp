#include "core/base/file_output.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <QTemporaryDir>
#include <QTest>
#include <unistd.h>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

} // namespace

/// Files and folders that appear when they are complete.
class TestFileOutput : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    root_ = folder_->path().toStdString();
  }

  void theFileIsThereWhenItIsPublished() {
    {
      FileOutput output(root_ / "a.txt", false);
      output.stream() << "text";
      QVERIFY(!fs::exists(root_ / "a.txt"));
      output.publish();
    }
    QCOMPARE(text_of(root_ / "a.txt"), std::string("text"));
    QVERIFY_EXCEPTION_THROWN(FileOutput(root_ / "a.txt", false), Error);
    { FileOutput unpublished(root_ / "b.txt", false); }
    QCOMPARE(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), std::ptrdiff_t(1));
  }

  /// Somebody else may write into the folder: in /tmp, anybody.
  void aLinkAtItsTemporaryNameIsNotFollowed() {
    std::ofstream(root_ / "precious") << "text";
    fs::create_symlink(root_ / "precious", temporary("a.txt"));
    fs::create_hard_link(root_ / "precious", temporary("b.txt"));
    for (const char* name : {"a.txt", "b.txt"}) {
      FileOutput output(root_ / name, false);
      output.stream() << "other";
      output.publish();
      QCOMPARE(text_of(root_ / name), std::string("other"));
    }
    QCOMPARE(text_of(root_ / "precious"), std::string("text"));
  }

  void aLinkAtTheTemporaryNameOfAFolderIsNotFollowed() {
    fs::create_directory(root_ / "precious");
    std::ofstream(root_ / "precious" / "file") << "text";
    fs::create_directory_symlink(root_ / "precious", temporary("runs"));
    FolderOutput output(root_ / "runs");
    std::ofstream(output.path() / "file") << "other";
    output.publish();
    QVERIFY(!fs::is_symlink(root_ / "runs"));
    QCOMPARE(text_of(root_ / "runs" / "file"), std::string("other"));
    QCOMPARE(text_of(root_ / "precious" / "file"), std::string("text"));
  }

private:
  fs::path temporary(const std::string& name) const {
    return root_ / ("." + name + "." + std::to_string(::getpid()) + ".unfinished");
  }

  std::unique_ptr<QTemporaryDir> folder_;
  fs::path root_;
};

BATCHSCOPE_TEST(TestFileOutput)
#include "tst_file_output.moc"
