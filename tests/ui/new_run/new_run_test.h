#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QTest>

#include <map>
#include <string>

#include "tests/core/store/store_test.h" // shows texts that differ
#include "ui/new_run/field_editor.h"
#include "ui/new_run/spec_form.h"

namespace batchscope::ui::test {

/// Puts a text into a field with the keyboard, as far as the field is one to type into; a choice is taken from its
/// list.
inline void type(SpecForm& form, const std::string& key, const QString& text) {
  FieldEditor* editor = form.editor(key);
  for (auto* units : editor->findChildren<QComboBox*>())
    if (units->accessibleName().contains("unit"))
      units->setCurrentText(QString::fromStdString(key));
  QWidget* control = editor->focusProxy();
  control->setFocus();
  if (auto* check = qobject_cast<QCheckBox*>(control)) {
    if (check->isChecked() != (text == "true"))
      QTest::keyClick(check, Qt::Key_Space);
    return;
  }
  auto* combo = qobject_cast<QComboBox*>(control);
  if (combo && !combo->isEditable()) {
    while (combo->currentIndex() > 0)
      QTest::keyClick(combo, Qt::Key_Up);
    while (combo->currentText() != text && combo->currentIndex() + 1 < combo->count())
      QTest::keyClick(combo, Qt::Key_Down);
    return;
  }
  QLineEdit* line = combo ? combo->lineEdit() : qobject_cast<QLineEdit*>(control);
  line->selectAll();
  QTest::keyClick(line, Qt::Key_Delete);
  QTest::keyClicks(line, text);
}

/// Every field but those that exclude others (`effective_batch`; `epochs` and `examples` beside `steps`) or need tokens
/// (`group_by_length`), all away from their defaults, in a run that takes no time.
inline const std::map<std::string, QString>& every_field() {
  static const std::map<std::string, QString> texts = {
      {"name", "it's \"all\" fields"},
      {"model", "mlp:hidden=8,layers=2"},
      {"data", "a=synthetic:examples=400,shape=1x8x8,classes=4,b=synthetic:examples=99,shape=1x8x8,classes=4"},
      {"shares", "a=0.25,b=0.75"},
      {"clock", "b"},
      {"task", "fine-tuning"},
      {"seed", "42"},
      {"batch", "4"},
      {"accumulate", "2"},
      {"schedule", "step:interval=2,increment=1"},
      {"max_batch", "16"},
      {"drop_last", "true"},
      {"margin", "0.3"},
      {"steps", "6"},
      {"evaluate_every", "2"},
      {"noise_every", "3"},
      {"checkpoint_every", "3"},
      {"checkpoint_minutes", "5"},
      {"optimizer", "sgd"},
      {"lr", "0.05"},
      {"momentum", "0.8"},
      {"lr_rule", "linear"},
      {"lr_reference_batch", "8"},
      {"lr_decay", "cosine"},
      {"warmup", "3"},
      {"clip", "1.5"},
      {"weight_decay", "0.001"},
      {"dropout", "0.1"},
      {"label_smoothing", "0.05"},
      {"regularization_rule", "sqrt"},
      {"device", "cpu"},
      {"memory_budget", "120MB"},
      {"batch_norm_rule", "inverse"},
      {"ema", "0.9"},
      {"precision", "bf16"},
      {"checkpointing", "true"},
      {"on_oom", "fail"},
      {"grow_back", "20"},
      {"augment", "flip,shift:1"},
  };
  return texts;
}

inline run::RunSpec spec_of(const std::map<std::string, QString>& texts) {
  run::RunSpec spec;
  for (const auto& [key, text] : texts)
    run::set_field(spec, key, text.toStdString());
  return spec;
}

} // namespace batchscope::ui::test
