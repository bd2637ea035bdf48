#pragma once

#include <QJsonObject>
#include <QWidget>

#include <optional>

#include "core/estimate/formula.h"

class QCheckBox;
class QComboBox;
class QLabel;

namespace batchscope::ui {

class LabelledEdit;

/// A transformer in numbers, or of a config.json, and how it is trained. UI thread.
class TransformerForm : public QWidget {
  Q_OBJECT

public:
  struct Value {
    estimate::Transformer model;
    estimate::Training training;
  };

  explicit TransformerForm(QWidget* parent = nullptr);

  /// Nothing while a field has an error, which stands at the field.
  std::optional<Value> value();
  /// Reads the config.json of a Hugging Face model; an error is shown below the button.
  void read_config(const QString& file);
  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void changed();

private:
  LabelledEdit* add_number(const QString& name, const QString& help, int number);
  std::optional<std::int64_t> number_of(LabelledEdit& edit, std::int64_t least);
  std::optional<estimate::Training> training();
  void ask_for_config();
  void take_config(const QString& text, const QString& name);
  void forget_config();

  QList<LabelledEdit*> sizes_; ///< layers, width, heads, vocabulary
  LabelledEdit* sequence_;
  LabelledEdit* batch_;
  LabelledEdit* lora_;
  QComboBox* precision_;
  QComboBox* optimizer_;
  QCheckBox* checkpointing_;
  QLabel* remark_;
  std::optional<estimate::Transformer> config_; ///< that was read, until a size is typed
  QString config_text_, config_name_;           ///< its file's
};

} // namespace batchscope::ui
