#pragma once

#include <QFontMetricsF>
#include <QString>
#include <QStyleOptionViewItem>

// Texts where there is little room: names are cut, numbers never, as what is left of one reads as another.
namespace batchscope::ui {

/// Whether a word is a number: `12,345`, `1.152e-6`, `97.3`, `3.3MB`, `50%`, `0:41`, `±12`. A word that begins with
/// another character is a name, such as `lr0.1`.
bool is_number_word(QStringView word);

/// The text as it fits into a width, cut at one end or in the middle with `…`. A number that does not fit whole is left
/// out, with all that it would be cut from. Texts are left to right.
QString fitted_text(const QString& text, const QFontMetricsF& metrics, double width, Qt::TextElideMode mode);

/// The option of a cell of a table as it is painted: with the part of the cell that is seen, and the text that fits.
/// `option` is initialized.
void fit_text(QStyleOptionViewItem& option);

} // namespace batchscope::ui
