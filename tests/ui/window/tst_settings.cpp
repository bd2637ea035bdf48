#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

#include "test_program.h"
#include "tests/core/store/store_test.h"
#include "ui/window/settings.h"

using namespace batchscope::ui;

class SettingsTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    file_ = folder_->filePath("config/window.json");
  }

  void beginsEmpty() {
    QString problem = "something";
    QVERIFY(Settings(file_).load(&problem).isEmpty());
    QCOMPARE(problem, QString());
    QVERIFY(!QFileInfo::exists(file_));
  }

  void givesBackWhatWasKept() {
    const Settings settings(file_);
    QString problem;
    const QJsonObject content{{"page", "live"}, {"runs", QJsonArray{1, 2}}, {"pages", QJsonObject{{"live", 0.5}}}};
    QVERIFY(settings.save(content, &problem));
    QJsonObject expected = content;
    expected.insert("version", Settings::current_version);
    QCOMPARE(settings.load(&problem), expected);
    QCOMPARE(settings.peek(), expected);
    QCOMPARE(problem, QString());
    // Nothing is left beside it.
    QCOMPARE(QDir(folder_->filePath("config")).entryList(QDir::Files), QStringList{"window.json"});
  }

  void putsAsideWhatItCannotUse_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("words");
    QTest::newRow("damaged") << QByteArray("{\"version\": 1, \"page\":") << "damaged";
    QTest::newRow("empty") << QByteArray() << "damaged";
    QTest::newRow("no object") << QByteArray("[1, 2]") << "does not contain BatchScope settings";
    QTest::newRow("no version") << QByteArray("{}") << "does not contain BatchScope settings";
    QTest::newRow("newer") << QByteArray("{\"version\": 99}") << "newer version";
    QTest::newRow("binary") << QByteArray("\x00\xff\x12garbage", 10) << "damaged";
  }
  void putsAsideWhatItCannotUse() {
    QFETCH(QByteArray, text);
    QFETCH(QString, words);
    write(file_, text);
    write(file_ + ".broken", "an older one");
    const Settings settings(file_);
    QVERIFY(settings.peek().isEmpty());
    QVERIFY(QFileInfo::exists(file_)); // looking alone moves nothing
    QString problem;
    QVERIFY(settings.load(&problem).isEmpty());
    QVERIFY2(problem.contains(words) && problem.contains("window.json.broken"), qPrintable(problem));
    QVERIFY(!QFileInfo::exists(file_));
    QFile aside(file_ + ".broken");
    QVERIFY(aside.open(QIODevice::ReadOnly));
    QCOMPARE(aside.readAll(), text);
    // The next start is as new, and keeps its own.
    QVERIFY(settings.load(&problem).isEmpty());
    QCOMPARE(problem, QString());
    QVERIFY(settings.save({{"page", "runs"}}, &problem));
    QCOMPARE(settings.load(&problem).value("page").toString(), "runs");
  }

  void saysWhereItCannotWrite() {
    write(folder_->filePath("config"), "a file where the folder should be");
    QString problem;
    QVERIFY(!Settings(file_).save({{"page", "runs"}}, &problem));
    QVERIFY2(problem.contains(file_), qPrintable(problem));
  }

  void keepsTheOldOneWhereTheFolderIsReadOnly() {
    const Settings settings(file_);
    QString problem;
    QVERIFY(settings.save({{"page", "live"}}, &problem));
    const QString folder = folder_->filePath("config");
    QVERIFY(QFile::setPermissions(folder_->path(), QFile::ReadOwner | QFile::ExeOwner | QFile::ExeOther));
    QVERIFY(QFile::setPermissions(folder, QFile::ReadOwner | QFile::ExeOwner | QFile::ReadOther | QFile::ExeOther));
    bool saved = false;
    {
      const store::test::OrdinaryUser user;
      if (user.is_root())
        QSKIP("root cannot become an ordinary user here");
      saved = settings.save({{"page", "runs"}}, &problem);
    }
    QFile::setPermissions(folder_->path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QFile::setPermissions(folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QVERIFY(!saved);
    QVERIFY(!problem.isEmpty());
    QCOMPARE(settings.load(&problem).value("page").toString(), "live");
  }

  void liesInTheUsersFolder() {
    qputenv("XDG_CONFIG_HOME", "/some/config");
    QCOMPARE(Settings::default_file(), "/some/config/batchscope/window.json");
    qputenv("XDG_CONFIG_HOME", "relative");
    QCOMPARE(Settings::default_file(), QDir::homePath() + "/.config/batchscope/window.json");
    qunsetenv("XDG_CONFIG_HOME");
    QCOMPARE(Settings::default_file(), QDir::homePath() + "/.config/batchscope/window.json");
  }

private:
  static void write(const QString& name, const QByteArray& text) {
    QDir().mkpath(QFileInfo(name).path());
    QFile file(name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(text), text.size());
  }

  std::unique_ptr<QTemporaryDir> folder_;
  QString file_;
};

BATCHSCOPE_TEST(SettingsTest)
#include "tst_settings.moc"
