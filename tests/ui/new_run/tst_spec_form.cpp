#include <QJsonDocument>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "test_program.h"
#include "ui/new_run/new_run_test.h"
#include "ui/new_run/presets.h"
#include "ui/new_run/run_summary.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

struct FormHere {
  FormHere() {
    form.resize(1000, 900);
    form.show();
    if (!QTest::qWaitForWindowActive(&form))
      qFatal("the form was not shown");
  }
  std::string json() const { return form.spec() ? run::to_json(*form.spec()) : "wrong"; }
  QString error(const std::string& key) const { return form.editor(key)->error(); }
  QToolButton* fold(const QString& part) {
    for (auto* button : form.findChildren<QToolButton*>("fold"))
      if (button->text().contains(part))
        return button;
    return nullptr;
  }
  QLineEdit* line(const std::string& key) {
    auto* combo = qobject_cast<QComboBox*>(form.editor(key)->focusProxy());
    return combo ? combo->lineEdit() : qobject_cast<QLineEdit*>(form.editor(key)->focusProxy());
  }

  SpecForm form;
};

} // namespace

/// The form: what is typed becomes the spec, what is wrong is said at its field.
class TestSpecForm : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void has_every_field_and_begins_with_the_defaults() {
    FormHere here;
    for (const run::SpecField& field : run::spec_fields())
      QVERIFY2(here.form.editor(field.key), field.key.c_str());
    QCOMPARE(here.json(), run::to_json(run::RunSpec{}));
    QCOMPARE(here.form.errors(), 0);
    QVERIFY(!here.form.editor("nothing"));
  }

  void every_field_typed_comes_out_as_it_went_in() {
    FormHere here;
    for (const auto& [key, text] : every_field())
      type(here.form, key, text);
    QCOMPARE(here.json(), run::to_json(spec_of(every_field())));
    // And those that exclude others.
    type(here.form, "accumulate", "");
    type(here.form, "effective_batch", "64");
    type(here.form, "examples", "1000");
    auto expected = every_field();
    expected.erase("accumulate");
    expected.erase("steps");
    expected["effective_batch"] = "64";
    expected["examples"] = "1000";
    QCOMPARE(here.json(), run::to_json(spec_of(expected)));
  }

  void a_spec_put_in_comes_out_again() {
    FormHere here;
    for (const std::map<std::string, QString>& texts :
         {every_field(), {}, {{"epochs", "7"}, {"batch", "auto:largest"}}, {{"examples", "5000"}, {"seed", "0"}}}) {
      here.form.set_spec(spec_of(texts));
      QCOMPARE(here.json(), run::to_json(spec_of(texts)));
    }
  }

  void every_wrong_value_is_said_at_its_field_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("part");
    const auto add = [](const char* key, const char* text, const char* part) {
      QTest::addRow("%s %s", key, text) << key << text << part;
    };
    add("model", "cnn:width=0", "width");
    add("model", "vgg", "vgg");
    add("data", "nothing:here", "nothing");
    add("seed", "-1", "0 or more");
    add("batch", "many", "whole number");
    add("batch", "0", "1 or more");
    add("accumulate", "1.5", "Enter a whole number, 1 or more");
    add("effective_batch", "0", "Enter a whole number, 1 or more");
    add("schedule", "step:interval=5", "increment");
    add("schedule", "formula:batch +", "batch +");
    add("max_batch", "-3", "Enter a whole number, 1 or more");
    add("margin", "1", "1");
    add("epochs", "0", "Enter a whole number, 1 or more");
    add("steps", "ten", "Enter a whole number, 1 or more");
    add("lr", "0", "above 0");
    add("lr", "fast", "Enter a finite number");
    add("momentum", "0.9", "sgd");
    add("lr_reference_batch", "x", "Enter a whole number, 1 or more");
    add("warmup", "-2", "Enter a number of steps, 0 or more");
    add("clip", "-1", "above 0");
    add("weight_decay", "-0.1", "0 or more");
    add("dropout", "1", "1");
    add("label_smoothing", "2", "1");
    add("device", "gpu", "cuda:N");
    add("memory_budget", "400 potatoes", "400 potatoes");
    add("memory_budget", "10KB", "Accepted: 1MB or more");
  }

  void every_wrong_value_is_said_at_its_field() {
    QFETCH(QString, key);
    QFETCH(QString, text);
    QFETCH(QString, part);
    FormHere here;
    type(here.form, key.toStdString(), text);
    const QString error = here.error(key.toStdString());
    QVERIFY2(error.contains(part), qPrintable(error));
    QVERIFY2(!error.startsWith("--"), qPrintable(error)); // the field itself says which option it is
    QCOMPARE(here.form.errors(), 1);
    QVERIFY(!here.form.spec());
    QVERIFY(here.form.editor(key.toStdString())->focusProxy()->property("wrong").toBool());
    here.form.setFocus();
    here.form.go_to_error();
    QVERIFY(here.form.editor(key.toStdString())->isVisible()); // also of a field that was folded away
    QCOMPARE(here.form.focusWidget(), here.form.editor(key.toStdString())->focusProxy());
    type(here.form, key.toStdString(), "");
    QCOMPARE(here.error(key.toStdString()), QString());
    QVERIFY(here.form.spec());
  }

  void fields_that_contradict_each_other() {
    FormHere here;
    type(here.form, "accumulate", "4");
    type(here.form, "effective_batch", "64");
    QVERIFY(!here.form.spec());
    QVERIFY(here.form.errors() >= 1);
    type(here.form, "accumulate", "");
    QCOMPARE(here.form.errors(), 0);
    // A piecewise schedule names its first batch.
    type(here.form, "effective_batch", "");
    type(here.form, "batch", "8");
    type(here.form, "schedule", "piecewise:0=16,100=32");
    QVERIFY(here.error("schedule").contains("16"));
    type(here.form, "batch", "16");
    QVERIFY(here.form.spec());
  }

  void one_length_replaces_another() {
    FormHere here;
    type(here.form, "steps", "50");
    QCOMPARE(*here.form.spec()->length.steps, std::int64_t(50));
    QVERIFY(!here.form.spec()->length.epochs);
    type(here.form, "epochs", "3");
    QCOMPARE(*here.form.spec()->length.epochs, std::int64_t(3));
    QVERIFY(!here.form.spec()->length.steps);
    QCOMPARE(here.form.editor("steps"), here.form.editor("epochs"));
  }

  void an_empty_field_shows_what_it_means() {
    FormHere here;
    QCOMPARE(here.line("lr")->placeholderText(), QString("0.001"));
    type(here.form, "optimizer", "sgd");
    QCOMPARE(here.line("lr")->placeholderText(), QString("0.1"));
    QCOMPARE(here.line("momentum")->placeholderText(), QString("0.9"));
    type(here.form, "batch", "32");
    type(here.form, "accumulate", "4");
    QCOMPARE(here.line("effective_batch")->placeholderText(), QString("128"));
  }

  void rare_fields_are_folded_away() {
    FormHere here;
    QVERIFY(!here.form.editor("margin")->isVisible());
    QToolButton* fold = here.fold("margin");
    QVERIFY(fold);
    QTest::mouseClick(fold, Qt::LeftButton);
    QVERIFY(here.form.editor("margin")->isVisible());
    QTest::mouseClick(fold, Qt::LeftButton);
    QVERIFY(!here.form.editor("margin")->isVisible());
    // What is not as always is not hidden.
    here.form.set_spec(spec_of({{"margin", "0.1"}}));
    QVERIFY(here.form.editor("margin")->isVisible());
    QVERIFY(!here.form.editor("clip")->isVisible());
  }

  void an_error_that_is_folded_away_is_said_where_it_unfolds() {
    FormHere here;
    here.form.set_spec(spec_of({{"optimizer", "sgd"}, {"momentum", "0.5"}}));
    QToolButton* fold = here.fold("Hide advanced settings");
    for (auto* each : here.form.findChildren<QToolButton*>("fold"))
      if (each->text() == "Hide advanced settings")
        fold = each;
    QVERIFY(fold);
    QTest::mouseClick(fold, Qt::LeftButton);
    QVERIFY(!here.form.editor("momentum")->isVisible());
    QVERIFY(fold->text().startsWith("Advanced settings: "));
    type(here.form, "optimizer", "adamw"); // which has none
    QVERIFY(!here.error("momentum").isEmpty());
    QVERIFY(!here.form.editor("momentum")->isVisible()); // nothing moves
    QVERIFY2(fold->text().contains("Momentum") && fold->text().contains("errors: "), qPrintable(fold->text()));
    QCOMPARE(fold->property("tone").toString(), "error");
    type(here.form, "optimizer", "sgd");
    QVERIFY(fold->text().startsWith("Advanced settings: "));
    QCOMPARE(fold->property("tone").toString(), "");
  }

  void a_remark_stays_until_its_field_is_changed() {
    FormHere here;
    QSignalSpy changed(&here.form, &SpecForm::changed);
    here.form.remark("data", "--data: there is no such file");
    QCOMPARE(here.error("data"), QString("There is no such file"));
    QVERIFY(here.form.spec()); // it may be there now
    type(here.form, "lr", "0.01");
    QCOMPARE(here.error("data"), QString("There is no such file"));
    type(here.form, "data", "demo");
    QCOMPARE(here.error("data"), QString());
  }

  void keeps_what_was_typed_right_or_wrong() {
    QJsonObject kept;
    {
      FormHere here;
      type(here.form, "lr", "fast");
      type(here.form, "steps", "70");
      type(here.form, "batch", "auto:largest");
      QTest::mouseClick(here.fold("margin"), Qt::LeftButton);
      kept = QJsonDocument::fromJson(QJsonDocument(here.form.state()).toJson()).object();
    }
    FormHere here;
    here.form.restore(kept);
    QVERIFY(here.error("lr").contains("Enter a finite number"));
    QVERIFY(here.form.editor("margin")->isVisible());
    type(here.form, "lr", "");
    QCOMPARE(here.json(), run::to_json(spec_of({{"steps", "70"}, {"batch", "auto:largest"}})));
    here.form.restore(
        QJsonDocument::fromJson(R"({"fields":{"lr":[1],"bogus":"x","batch":"7"},"unfolded":[3,"no"]})").object());
    QCOMPARE(here.form.spec()->batch.number, std::int64_t(7));
    here.form.restore({});
    QCOMPARE(here.form.spec()->batch.number, std::int64_t(7));
  }

  void a_wheel_over_the_form_changes_nothing() {
    FormHere here;
    QWidget* combo = here.form.editor("optimizer")->focusProxy();
    here.form.editor("lr")->setFocus();
    QWheelEvent wheel(QPointF(5, 5), combo->mapToGlobal(QPointF(5, 5)), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(combo, &wheel);
    QCOMPARE(here.form.editor("optimizer")->text(), QString("adamw"));
  }

  void presets_are_in_order() {
    QStringList names;
    for (const Preset& preset : presets()) {
      const run::RunSpec spec = preset_spec(preset);
      const auto wrong = run::check_fields(spec);
      QVERIFY2(wrong.empty(), wrong.empty() ? "" : wrong.front().second.c_str());
      run::check(spec);
      QVERIFY(!preset_help(preset).isEmpty());
      QVERIFY(!names.contains(preset_name(preset)));
      names.append(preset_name(preset));
    }
    QVERIFY(names.size() >= 6);
  }

  void the_summary_says_what_comes_first() {
    const auto first = [](const std::map<std::string, QString>& texts) { return run_summary(spec_of(texts)).first(); };
    QCOMPARE(first({{"batch", "1500"}}), QString("Starts training immediately with batch size 1,500."));
    QVERIFY(first({}).contains("fewer than 20 steps"));
    QVERIFY(first({{"batch", "auto:safe"}, {"margin", "0.25"}}).contains("leaves 25 % of the memory budget free"));
    QVERIFY(first({{"batch", "auto:largest"}}).contains("Searches for the largest batch size that fits"));
    QVERIFY(first({{"batch", "auto:recommended"}}).contains("within 5 % of the best throughput"));
    const QString all = run_summary(spec_of({{"batch", "32"}, {"accumulate", "4"}, {"steps", "70"}})).join(' ');
    QVERIFY(all.contains("4 batches of 32, 128 examples in total"));
    QVERIFY(all.contains("Ends after 70 optimizer steps"));
  }
};

BATCHSCOPE_TEST(TestSpecForm)
#include "tst_spec_form.moc"
