#include <QDir>
#include <QFileInfo>
#include <QTest>

#include <QRegularExpression>

#include <memory>

#include "cli/cli_program.h"
#include "test_program.h"

using namespace batchscope::test;

namespace {

/// The README and the pages of docs, relative to the source folder.
QStringList pages() {
  QStringList names = {"README.md"};
  for (const QString& name : QDir(BATCHSCOPE_SOURCE_DIR "/docs").entryList({"*.md"}, QDir::Files, QDir::Name))
    names += "docs/" + name;
  return names;
}

QString path_of(const QString& page) {
  return QString(BATCHSCOPE_SOURCE_DIR) + '/' + page;
}

QString text_of(const QString& page) {
  QFile file(path_of(page));
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace

/// The examples of each page work as they stand, in their order, in an empty folder; what it links to is there.
class TestReadme : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void examplesWork_data() {
    QTest::addColumn<QString>("page");
    QTest::addColumn<QString>("command");
    if (sanitized)
      QSKIP("the command line's own tests have each of them");
    static const QRegularExpression block("```sh\n(.*?)```", QRegularExpression::DotMatchesEverythingOption);
    for (const QString& page : pages()) {
      auto blocks = block.globalMatch(text_of(page));
      while (blocks.hasNext()) {
        for (const QString& line : blocks.next().captured(1).split('\n', Qt::SkipEmptyParts))
          QTest::newRow(qPrintable(page + ": " + line)) << page << line;
      }
    }
  }
  void examplesWork() {
    QFETCH(QString, page);
    QFETCH(QString, command);
    if (page != page_) {
      page_ = page;
      program_ = std::make_unique<CliProgram>();
    }
    const QString name = "build/bin/batchscope-cli ";
    QVERIFY(command.startsWith(name));
    const Outcome outcome = program_->run(QProcess::splitCommand(command.mid(name.size()).replace('\'', '"')));
    QVERIFY2(outcome.status == 0, outcome.shown());
    QVERIFY2(!outcome.out.isEmpty(), outcome.shown());
  }

  void namesFilesThatAreThere_data() {
    QTest::addColumn<QString>("page");
    for (const QString& page : pages())
      QTest::newRow(qPrintable(page)) << page;
  }
  void namesFilesThatAreThere() {
    QFETCH(QString, page);
    const QString text = text_of(page);
    QVERIFY(!text.isEmpty());
    static const QRegularExpression link("\\]\\(([^):#]+)(#[^)]*)?\\)"); // neither a URL nor a place on the page
    auto links = link.globalMatch(text);
    QVERIFY(links.hasNext() || page != "README.md");
    while (links.hasNext()) {
      const QString path = links.next().captured(1);
      QVERIFY2(QFileInfo::exists(QFileInfo(path_of(page)).dir().filePath(path)), qPrintable(path));
    }
  }

private:
  QString page_;
  std::unique_ptr<CliProgram> program_; ///< its folder and database serve all examples of page_
};

BATCHSCOPE_TEST(TestReadme)
#include "tst_readme.moc"
