#pragma once

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include "ui/memory/prediction_card.h"
#include "ui/new_run/new_run_page.h"
#include "ui/new_run/new_run_test.h"
#include "ui/workbench_test.h"

namespace batchscope::ui::test {

/// The page, shown, with the form of a built-in network or of a program, on an empty database.
class NewRunHere {
public:
  explicit NewRunHere(FormKind kind = FormKind::network)
      : form(*page.findChild<SpecForm*>(kind == FormKind::network ? "network-form" : "program-form")) {
    page.resize(1340, 820);
    page.choose(kind);
    page.show();
    if (!QTest::qWaitForWindowActive(&page))
      qFatal("the page was not shown");
  }

  QPushButton* button(const QString& text) {
    for (auto* button : page.findChildren<QPushButton*>())
      if (button->text() == text && button->isVisible())
        return button;
    return nullptr;
  }
  void click(const QString& text) {
    QVERIFY2(button(text), qPrintable(text));
    QTest::mouseClick(button(text), Qt::LeftButton);
  }
  void set(const std::string& key, const QString& text) { form.editor(key)->set_text(key, text); }
  QString error(const std::string& key) const { return form.editor(key)->error(); }
  std::string json() const { return form.spec() ? run::to_json(*form.spec()) : "wrong"; }

  QString label(const char* name) { return page.findChild<QLabel*>(name)->text(); }
  /// Whether a label that is seen has this text in it.
  bool says(const QString& part) {
    const auto labels = page.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&](const QLabel* label) { return label->isVisible() && label->text().contains(part); });
  }
  bool shows_prediction() {
    const auto labels = page.findChild<PredictionCard*>()->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [](const QLabel* each) { return each->text().startsWith("Memory at batch size"); }) &&
           page.findChild<QLabel*>("prediction-remark")->isHidden();
  }

  QComboBox* presets() {
    for (auto* combo : page.findChildren<QComboBox*>())
      if (combo->accessibleName() == "Presets")
        return combo;
    return nullptr;
  }
  void choose_preset(int index) {
    presets()->setFocus();
    presets()->setCurrentIndex(index);
    Q_EMIT presets()->activated(index);
  }
  void choose_file(const QString& file, QDialogButtonBox::StandardButton button) {
    auto* dialog = page.findChild<QFileDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    dialog->findChild<QLineEdit*>("fileNameEdit")->setText(file);
    QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(button), Qt::LeftButton);
    QTRY_VERIFY(!page.findChild<QFileDialog*>());
  }
  QString write(const QString& name, const QByteArray& content) {
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
      qFatal("a test's file could not be written");
    return file.fileName();
  }

  QTemporaryDir folder;
  WorkbenchHere bench;
  NewRunPage page{*bench};
  SpecForm& form;
};

} // namespace batchscope::ui::test
