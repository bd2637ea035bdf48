#include "ui/memory/card_choice.h"

#include <QComboBox>
#include <QCoreApplication>

#include "core/base/error.h"
#include "core/estimate/cards.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

void add_cards(QComboBox& box, int oldest) {
  try {
    for (const estimate::Card& card : estimate::cards())
      if (card.capability >= oldest)
        box.addItem(QCoreApplication::translate("CardChoice", "Fit into %1, %2")
                        .arg(QString::fromStdString(card.name),
                             QString::fromStdString(estimate::card_memory_text(card.memory_bytes))),
                    QString::fromStdString(card.name));
  } catch (const Error&) {
    // The other items of the box can still be chosen.
  }
}

} // namespace batchscope::ui
