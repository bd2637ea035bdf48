#pragma once

#include <QDBusVariant>
#include <QObject>

#include <optional>

class QDBusPendingCallWatcher;

namespace batchscope::ui {

/// What the desktop's portal says of light and dark (org.freedesktop.appearance color-scheme), asked without waiting
/// and followed from then on. Where there is no session bus or no portal it stays silent. UI thread.
class SystemScheme : public QObject {
  Q_OBJECT

public:
  explicit SystemScheme(QObject* parent = nullptr);

  /// Nothing: not answered, or the desktop has no preference.
  std::optional<bool> dark() const { return dark_; }

Q_SIGNALS:
  void changed();

private:
  Q_SLOT void take_change(const QString& space, const QString& key, const QDBusVariant& value);
  void ask();
  void take_answer(QDBusPendingCallWatcher* call);
  void take(const QVariant& value);

  std::optional<bool> dark_;
};

} // namespace batchscope::ui
