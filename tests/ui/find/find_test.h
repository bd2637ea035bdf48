#pragma once

#include <QComboBox>
#include <QTableView>
#include <QToolButton>

#include "core/base/json.h"
#include "core/store/run_reader.h"
#include "ui/find/find_page.h"
#include "ui/page_test.h"

namespace batchscope::ui::test {

/// A conv net on the bundled images, of which about twenty fit into the memory.
inline run::RunSpec tight_net() {
  run::RunSpec spec;
  spec.model = "cnn";
  spec.data = "demo";
  spec.memory_budget = 10'000'000;
  return spec;
}

class FindHere : public PageHere<FindPage> {
public:
  QTableView& table() { return *named<QTableView>("probes"); }
  Job* job() { return bench().job_queue().jobs().last(); }
  QString text(const char* label) { return named<QLabel>(label)->text(); }

  void type(const char* key, const QString& text) {
    PageHere::type(key, text);
    QTest::keyClick(field(key), Qt::Key_Escape); // of the completions
  }

  /// What a search of this spec comes to, asked for on the page with the keyboard.
  Job* search(const run::RunSpec& spec, const QString& strategy) {
    bench().propose_run(spec);
    QTest::keyClicks(named<QComboBox>("strategy"), strategy);
    const qsizetype before = bench().job_queue().jobs().size();
    QTest::keyClick(&page(), Qt::Key_F5);
    return bench().job_queue().jobs().size() == before + 1 ? job() : nullptr;
  }

  Json stored_search(std::int64_t id) const { return Json::parse(store::RunReader(database()).search_json(id)); }
};

} // namespace batchscope::ui::test
