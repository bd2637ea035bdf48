#pragma once

#include <QDBusVariant>
#include <QObject>

#include <optional>

class QDBusPendingCallWatcher;

namespace batchscope::ui {

/// The desktop portal's colour scheme (org.freedesktop.appearance color-scheme), read asynchronously and followed.
/// Without a session bus or portal it reports nothing. UI thread.
class SystemScheme : public QObject {
  Q_OBJECT

public:
  explicit SystemScheme(QObject* parent = nullptr);

  /// Nothing: no answer yet, or the desktop has no preference.
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
