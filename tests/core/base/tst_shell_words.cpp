#include "core/base/shell_words.h"

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;

class TestShellWords : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void splits_data();
  void splits();
  void refuses_data();
  void refuses();
  void linesSplitIntoTheSameWords();
  void placeholdersStayReadable();
};

void TestShellWords::splits_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QStringList>("words");
  QTest::newRow("nothing") << "" << QStringList{};
  QTest::newRow("blanks only") << " \t " << QStringList{};
  QTest::newRow("plain") << "python train.py --batch {batch}"
                         << QStringList{"python", "train.py", "--batch", "{batch}"};
  QTest::newRow("many blanks") << "  a \t b\n" << QStringList{"a", "b"};
  QTest::newRow("single quotes") << "a 'b  c' d" << QStringList{"a", "b  c", "d"};
  QTest::newRow("double quotes") << R"(--name "my run")" << QStringList{"--name", "my run"};
  QTest::newRow("joined pieces") << R"(--name="my "'run'\ 7)" << QStringList{"--name=my run 7"};
  QTest::newRow("empty word") << "a '' \"\"" << QStringList{"a", "", ""};
  QTest::newRow("escapes in double quotes") << R"("a\"b\\c\$d\n")" << QStringList{R"(a"b\c$d\n)"};
  QTest::newRow("no escapes in single quotes") << R"('a\b$`|')" << QStringList{R"(a\b$`|)"};
  QTest::newRow("line goes on") << "python train.py \\\n    --batch 8"
                                << QStringList{"python", "train.py", "--batch", "8"};
  QTest::newRow("line goes on in a word") << "ab\\\ncd" << QStringList{"abcd"};
  QTest::newRow("quoted operators") << R"(sh -c 'a | b > c')" << QStringList{"sh", "-c", "a | b > c"};
  QTest::newRow("not expanded") << "~/x *.txt {a,b} #3" << QStringList{"~/x", "*.txt", "{a,b}", "#3"};
  QTest::newRow("beyond ASCII") << "python 'übung 1.py' 训练" << QStringList{"python", "übung 1.py", "训练"};
}

void TestShellWords::splits() {
  QFETCH(QString, text);
  QFETCH(QStringList, words);
  QStringList found;
  for (const std::string& word : shell_words(text.toStdString(), "command"))
    found.append(QString::fromStdString(word));
  QCOMPARE(found, words);
}

void TestShellWords::refuses_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("says");
  QTest::newRow("open single quote") << "a 'b"
                                     << "a ' has no closing '";
  QTest::newRow("open double quote") << "a \"b'"
                                     << "a \" has no closing \"";
  QTest::newRow("backslash at the end") << "a\\"
                                        << "nothing follows";
  QTest::newRow("redirection") << "python train.py > log"
                               << R"(">" is not accepted)";
  QTest::newRow("pipe") << "a | b"
                        << R"("|" is not accepted)";
  QTest::newRow("variable") << "python $HOME/a.py"
                            << R"("$" is not accepted)";
  QTest::newRow("two commands") << "cd a && python b"
                                << R"("&" is not accepted)";
}

void TestShellWords::refuses() {
  QFETCH(QString, text);
  QFETCH(QString, says);
  try {
    shell_words(text.toStdString(), "command");
    QFAIL("accepted");
  } catch (const Error& error) {
    QCOMPARE(error.kind(), Error::Kind::input);
    const QString message = QString::fromUtf8(error.what());
    QVERIFY2(message.startsWith("command: ") && message.contains(says), error.what());
  }
}

void TestShellWords::linesSplitIntoTheSameWords() {
  // Every pair of characters that has a meaning anywhere, at the beginning, inside and alone.
  const std::string characters = " \t\n'\"\\|&;<>$`{}~#*a=";
  for (const char one : characters)
    for (const char other : characters) {
      const std::vector<std::string> words = {{one, other}, {}, {'x', one, 'y', other}, {one}};
      QVERIFY2(shell_words(shell_line(words), "command") == words, shell_line(words).c_str());
    }
}

void TestShellWords::placeholdersStayReadable() {
  QCOMPARE(QString::fromStdString(shell_line({"python", "my train.py", "--batch={batch}", "{seed}"})),
           QString("python 'my train.py' --batch={batch} {seed}"));
}

BATCHSCOPE_TEST(TestShellWords)
#include "tst_shell_words.moc"
