#include "ui/new_run/presets.h"

#include <QCoreApplication>

#include "core/run/spec_fields.h"

namespace batchscope::ui {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {QT_TRANSLATE_NOOP("Presets", "Demo, quick"),
       QT_TRANSLATE_NOOP("Presets", "A small CNN on the bundled images, one epoch in a few seconds"),
       {{"batch", "64"}, {"memory_budget", "400MB"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "Demo, growing batch under 32 MB"),
       QT_TRANSLATE_NOOP("Presets", "Adds one example to the batch every 5 steps until memory runs out, then splits "
                                    "the batches into micro batches"),
       {{"batch", "8"}, {"schedule", "step:interval=5,increment=1"}, {"memory_budget", "32MB"}, {"epochs", "2"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "Demo, largest safe batch under 100 MB"),
       QT_TRANSLATE_NOOP(
           "Presets",
           "Searches for the batch size first and scales the learning rate with the square root of the batch size"),
       {{"batch", "auto:safe"},
        {"memory_budget", "100MB"},
        {"lr_rule", "sqrt"},
        {"lr_reference_batch", "32"},
        {"epochs", "2"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "Demo, large batches by accumulation"),
       QT_TRANSLATE_NOOP("Presets", "Four batches of 32 give one step of 128 with little memory"),
       {{"batch", "32"}, {"accumulate", "4"}, {"memory_budget", "32MB"}, {"epochs", "2"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "ResNet with AdaBatch"),
       QT_TRANSLATE_NOOP(
           "Presets", "SGD on the bundled images; every 2 epochs the batch size doubles and the learning rate decays"),
       {{"model", "resnet:width=8"},
        {"batch", "32"},
        {"schedule", "adabatch:factor=2,every=2,lr-decay=0.75"},
        {"memory_budget", "400MB"},
        {"optimizer", "sgd"},
        {"lr", "0.05"},
        {"warmup", "auto"},
        {"epochs", "6"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "Small GPT on synthetic tokens"),
       QT_TRANSLATE_NOOP("Presets",
                         "Two transformer blocks on synthetic data, to measure the memory that sequences need"),
       {{"model", "gpt:layers=2,heads=4,width=64,context=64"},
        {"data", "synthetic:examples=1000,vocabulary=65"},
        {"batch", "16"},
        {"memory_budget", "400MB"},
        {"lr_decay", "cosine"},
        {"clip", "1"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "BERT-base on synthetic tokens"),
       QT_TRANSLATE_NOOP("Presets",
                         "110 million parameters, 512 tokens and batches of 32; see its memory before you run "
                         "it"),
       {{"model", "bert:layers=12,heads=12,width=768,context=512"},
        {"data", "synthetic:examples=1000,vocabulary=30522"},
        {"batch", "32"},
        {"lr", "0.0001"},
        {"warmup", "auto"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "GPT-2 on synthetic tokens"),
       QT_TRANSLATE_NOOP("Presets", "124 million parameters, 512 tokens; 16 batches of 32 for each step"),
       {{"model", "gpt:layers=12,heads=12,width=768,context=512,positions=1024,tied=1"},
        {"data", "synthetic:examples=1000,vocabulary=50257"},
        {"batch", "32"},
        {"accumulate", "16"},
        {"lr_decay", "cosine"},
        {"warmup", "auto"},
        {"clip", "1"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "ViT-Base on synthetic images"),
       QT_TRANSLATE_NOOP("Presets", "86 million parameters, images of 224x224 pixels and batches of 256"),
       {{"model", "vit:layers=12,heads=12,width=768,patch=16"},
        {"data", "synthetic:examples=2000,shape=3x224x224,classes=1000"},
        {"batch", "256"},
        {"lr", "0.0001"},
        {"weight_decay", "0.05"}},
       {}},
      {QT_TRANSLATE_NOOP("Presets", "GPT on a text file…"),
       QT_TRANSLATE_NOOP("Presets", "Predicts the next character of your own text file"),
       {{"model", "gpt:layers=4,heads=4,width=128,context=128"},
        {"batch", "16"},
        {"epochs", "5"},
        {"memory_budget", "1GB"},
        {"lr_decay", "cosine"},
        {"warmup", "auto"},
        {"clip", "1"}},
       "text"},
      {QT_TRANSLATE_NOOP("Presets", "MLP on a CSV file…"),
       QT_TRANSLATE_NOOP("Presets", "Predicts one column of your own table from the others"),
       {{"model", "mlp:hidden=256"}, {"batch", "64"}, {"memory_budget", "400MB"}, {"epochs", "10"}},
       "csv"},
      {QT_TRANSLATE_NOOP("Presets", "CNN on IDX images…"),
       QT_TRANSLATE_NOOP("Presets", "Images and labels in the format of MNIST"),
       {{"model", "cnn"}, {"batch", "auto:recommended"}, {"memory_budget", "400MB"}},
       "idx"},
      {QT_TRANSLATE_NOOP("Presets", "CNN on folders of images…"),
       QT_TRANSLATE_NOOP("Presets", "PNG and JPEG images in one folder for each class, mirrored and shifted at random; "
                                    "choose one of the images"),
       {{"model", "cnn"}, {"augment", "flip,shift:2"}, {"batch", "auto:recommended"}, {"memory_budget", "400MB"}},
       "images"},
  };
  return all;
}

QString preset_name(const Preset& preset) {
  return QCoreApplication::translate("Presets", preset.name);
}

QString preset_help(const Preset& preset) {
  return QCoreApplication::translate("Presets", preset.help);
}

run::RunSpec preset_spec(const Preset& preset) {
  run::RunSpec spec;
  for (const auto& [key, text] : preset.fields)
    run::set_field(spec, key, text);
  return spec;
}

} // namespace batchscope::ui
