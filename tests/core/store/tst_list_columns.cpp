#include <QTest>

#include "core/store/run_fields.h"
#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

std::int64_t add_with_spec(RunStore& store, const std::string& spec, const std::vector<double>& losses = {}) {
  NewRun run = new_run("run");
  run.spec_json = spec;
  auto writer = store.begin(run);
  std::int64_t step = 0;
  for (const double loss : losses)
    writer->sink().event(event_of(++step, 0, "note", "{}", {{"val/loss 1", loss}}));
  auto end = outcome(telemetry::RunStatus::finished);
  end.batch = 8;
  writer->finish(end);
  return writer->id();
}

std::vector<std::int64_t> ids_matching(const RunReader& reader, const std::string& where) {
  std::vector<std::int64_t> ids;
  for (const RunRow& row : reader.list(where))
    ids.push_back(row.id);
  return ids;
}

using Ids = std::vector<std::int64_t>;

} // namespace

/// Settings and summaries of series as columns and in filters.
class TestListColumns : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init();
  void filters();
  void placeholders();
  void told();
  void columns();
  void values_that_are_not_known();
  void unknown_names();
  void deleted_runs();

private:
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<RunStore> store_;
};

void TestListColumns::init() {
  store_.reset();
  folder_ = std::make_unique<Folder>();
  store_ = std::make_unique<RunStore>(folder_->file());
  add_with_spec(*store_,
                R"({"batch": "auto", "dropout": 0.5, "memory_budget": 64000000, "ema": null, "drop_last": true})",
                {3, 1, 2});
  add_with_spec(*store_,
                R"({"batch": 16, "dropout": 0, "memory_budget": 32000000, "drop_last": false, "x.last": "it's"})",
                {5, not_a_number});
  add_with_spec(*store_, "not JSON");
}

/// The settings of a program of the user's own are texts; one that is a number is compared as one.
void TestListColumns::placeholders() {
  add_with_spec(*store_, R"({"program": {"command": ["train"], "set": {"lr": "0.1", "data": "a.csv"}}})");
  add_with_spec(*store_, R"({"program": {"command": ["train"], "set": {"lr": "1e-2", "data": "b.csv"}}})");
  const RunReader reader(folder_->file());
  QCOMPARE(ids_matching(reader, "set.lr = 0.10"), Ids{4});
  QCOMPARE(ids_matching(reader, "set.lr < 0.05 and set.data != a.csv"), Ids{5});
  QCOMPARE(ids_matching(reader, "setting.set.data = a.csv"), Ids{4});
  const RunList list = reader.table("", {"set.lr"});
  QCOMPARE(*list.columns.at(0).text(list.rows.back()), std::string("1e-2"));
  const std::string error = error_of([&] { reader.list("set.rate = 1"); });
  QVERIFY2(error.find("set.data, set.lr, setting.batch, x.last") != std::string::npos, error.c_str());
}

void TestListColumns::filters() {
  const RunReader reader(folder_->file());
  QCOMPARE(ids_matching(reader, "dropout >= 0.1"), Ids{1});
  QCOMPARE(ids_matching(reader, "dropout < 50%"), Ids{2});
  QCOMPARE(ids_matching(reader, "memory_budget > 60 MB"), Ids{1});
  QCOMPARE(ids_matching(reader, "memory_budget = 32MB and batch = 8"), Ids{2});
  QCOMPARE(ids_matching(reader, "setting.batch = auto"), Ids{1});
  QCOMPARE(ids_matching(reader, "setting.batch != auto"), Ids{2});
  QCOMPARE(ids_matching(reader, "setting.batch >= 16"), Ids{2});
  QCOMPARE(ids_matching(reader, "drop_last = true"), Ids{1});
  QCOMPARE(ids_matching(reader, "ema = 1 or ema != 1"), Ids{}); // not set
  QCOMPARE(ids_matching(reader, "x.last = 'it''s'"), Ids{2});
  QCOMPARE(ids_matching(reader, "'val/loss 1.min' <= 1"), Ids{1});
}

/// What a program says that it is made with.
void TestListColumns::told() {
  NewRun run = new_run("run");
  run.spec_json = R"({"program": {"command": ["train"]}})";
  run.start_json = R"({"program": {"settings": {"learning_rate": 5e-05, "optimizer": "adamw_torch", "bf16": true}}})";
  store_->add_finished(run, {});
  const RunReader reader(folder_->file());
  QCOMPARE(ids_matching(reader, "program.learning_rate < 1e-4 and program.bf16 = true"), Ids{4});
  QCOMPARE(ids_matching(reader, "lr = 5e-5 and optimizer = adamw_torch"), Ids{4});
  const RunList list = reader.table("", {"program.optimizer"});
  QCOMPARE(*list.columns.at(0).text(list.rows.back()), std::string("adamw_torch"));
  const std::string error = error_of([&] { reader.list("program.rate = 1"); });
  QVERIFY2(error.find("program.bf16, program.learning_rate, program.optimizer") != std::string::npos, error.c_str());
}

void TestListColumns::columns() {
  const RunReader reader(folder_->file());
  const RunList list =
      reader.table("dropout >= 0", {"dropout", "batch", "setting.batch", "val/loss 1.last", "accuracy", "tags"});
  QCOMPARE(list.rows.size(), std::size_t(2));
  std::vector<std::string> rows;
  for (const RunRow& row : list.rows) {
    Json json = Json::array();
    for (const RunField& field : list.columns)
      json.push_back(field.json(row));
    rows.push_back(json_text(json));
  }
  QCOMPARE(rows.at(0), std::string(R"([0.5,8,"auto",2.0,null,[]])"));
  QCOMPARE(rows.at(1), std::string(R"([0,8,16,"NaN",null,[]])"));
}

/// A loss may really be NaN; what a program does not say is no number.
void TestListColumns::values_that_are_not_known() {
  auto writer = store_->begin(new_run("run"));
  writer->sink().record(telemetry::unknown_record(1));
  writer->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder_->file());
  const RunList list = reader.table("id = 4", {"epoch.last", "batch.last", "learning_rate.max", "loss.last"});
  std::vector<Json> values;
  for (const RunField& field : list.columns)
    values.push_back(field.json(list.rows.at(0)));
  QVERIFY(values.at(0).is_null() && values.at(1).is_null() && values.at(2).is_null());
  QCOMPARE(json_text(values.at(3)), std::string(R"("NaN")"));
  QVERIFY(!list.columns.at(1).number(list.rows.at(0)));
}

void TestListColumns::unknown_names() {
  const RunReader reader(folder_->file());
  const std::string accepted = "; settings drop_last, dropout, ema, memory_budget, setting.batch, x.last; .last, .min "
                               "and .max of the series val/loss 1";
  Error::Kind kind{};
  std::string error = error_of([&] { reader.list("dropuot = 1"); }, &kind);
  QCOMPARE(kind, Error::Kind::input);
  QVERIFY2(error.starts_with("--where: unknown field \"dropuot\" at position 1; fields are id, name, "), error.c_str());
  QVERIFY2(error.ends_with(accepted), error.c_str());
  error = error_of([&] { reader.table("", {"id", "loss.min"}); }, &kind);
  QCOMPARE(kind, Error::Kind::input);
  QVERIFY2(error.starts_with("--columns: unknown column \"loss.min\"; accepted: id, name, "), error.c_str());
  QVERIFY2(error.ends_with(accepted), error.c_str());
  for (const char* name : {"setting.", "a\"b", "dropout'); DROP TABLE run; --"})
    QVERIFY(!error_of([&] { reader.table("", {name}); }).empty());
  QCOMPARE(reader.list().size(), std::size_t(3));
}

void TestListColumns::deleted_runs() {
  store_->set_deleted({1}, true);
  const RunReader reader(folder_->file());
  QCOMPARE(reader.table("dropout > 0", {"dropout"}, true).rows.size(), std::size_t(1));
  QCOMPARE(reader.table("dropout > 0", {"dropout"}).rows.size(), std::size_t(0));
}

BATCHSCOPE_TEST(TestListColumns)
#include "tst_list_columns.moc"
