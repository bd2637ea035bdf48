#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace batchscope::data {

/// What one example looks like to a model.
struct ExampleShape {
  enum class Input { features, image, tokens };
  enum class Target { classes, number, next_token };

  Input input = Input::features;
  Target target = Target::classes;
  /// features: {count}; image: {channels, height, width}; tokens: {longest length in tokens}.
  std::vector<std::int64_t> dimensions;
  std::int64_t classes = 0;    ///< for Target::classes, else 0
  std::int64_t vocabulary = 0; ///< for tokens, else 0
};

/// Shape of the micro batch that a set of examples makes.
struct BatchLayout {
  std::int64_t count = 0;  ///< examples
  std::int64_t length = 0; ///< tokens: longest of the micro batch, to which the others are padded; else 1
  /// Terms of the loss: examples, or tokens that are not padding.
  std::int64_t loss_terms = 0;
};

/// Marks a target token that is padding and has no share in the loss.
inline constexpr std::int64_t ignored_target = -100;

/// Examples in host memory, immutable after construction; any thread may read.
class Dataset {
public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  virtual const ExampleShape& shape() const = 0;

  /// Shape of the micro batch made of these examples (indices 0..size()-1, in this order).
  virtual BatchLayout layout(std::span<const std::int64_t> indices) const = 0;

  // Of the following only those that go with shape() may be called; the others throw Error (failed).

  /// Writes the inputs (row-major, count first; features and images only) and targets of the examples.
  /// `inputs` holds count * product(dimensions) floats.
  virtual void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const;
  /// The same for tokens: count * length token ids, `length` at least that of the layout; padding is token 0.
  virtual void fill_tokens(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* tokens) const;
  /// Target::classes: count labels. Target::next_token: count * length ids or ignored_target.
  virtual void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const;
  /// Target::number: count floats.
  virtual void fill_numbers(std::span<const std::int64_t> indices, float* numbers) const;
};

/// A data set and the part that is held out of it.
struct DataSplit {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> validation; ///< may be null where nothing is held out
};

/// What opening needs besides the text.
struct DataOptions {
  std::int64_t context = 128; ///< window of `text:`, longest line of `lines:`, and length of synthetic tokens
};

/// Opens what `--data` names:
/// - `demo`: the bundled images, 8,000 to train and 2,000 to validate, from resources_folder().
/// - `idx:IMAGES,LABELS`: 8-bit images and labels, each plain or gzip. Inputs are (v/255 - mean)/std with the training
///   part's mean and std over all pixels.
/// - `text:FILE`: UTF-8. A token is a character (code point), the vocabulary the distinct characters in their order.
///   An example is a window of `context` characters and its targets are the characters that follow each; windows do
///   not overlap. The end of the text validates, not a drawn part.
/// - `lines:FILE`: UTF-8, one example a line, ended by a newline character that is part of the example; empty lines are
///   skipped, lines are cut to context + 1 characters, newline included.
/// - `csv:FILE,target=NAME`: a line of names, then rows of numbers; fields may be quoted. With `header=no` the file has
///   rows alone, and the target is its column's number from 1 (`csv:FILE,header=no,target=3`). Features are
///   standardised with the training part's mean and std. The target is a class where a value is no number, or where all
///   are whole numbers and at most 20 differ; classes are numbered in the order of their texts or numbers. Else it is a
///   number, taken as it is.
/// - `synthetic:examples=1000,shape=3x32x32,classes=10` (`shape=20`: features) or
/// `synthetic:examples=1000,vocabulary=65`:
///   learnable, made example by example from a hash, so that any number of examples takes no memory. At most 100,000
///   of them are held out, for each evaluation goes through all that are.
///
/// With each of them `validation=0.2` (0..0.9) is the share held out: a part drawn by a fixed hash, the same in every
/// run. Everything but synthetic data is read into memory, after every size has been checked against what the file
/// holds. Throws Error (input) that names the file, the offset or line, and what was expected.
DataSplit open_data(const std::string& text, const DataOptions& options = {});

/// The files of the user that a `--data` text names; the program's own are none. Throws as check_data_text() does.
std::vector<std::string> data_files(const std::string& text);

/// Throws what open_data() throws for the form of the text alone; opens nothing.
void check_data_text(const std::string& text);

} // namespace batchscope::data
