#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/data/stream_mixer.h"

namespace batchscope::data {

/// The form of one example, as a model sees it.
struct ExampleShape {
  enum class Input { features, image, tokens };
  enum class Target { classes, number, next_token };

  Input input = Input::features;
  Target target = Target::classes;
  /// features: {count}; image: {channels, height, width}; tokens: {maximum length in tokens}.
  std::vector<std::int64_t> dimensions;
  std::int64_t classes = 0;    ///< for Target::classes, else 0
  std::int64_t vocabulary = 0; ///< for tokens, else 0
  std::int64_t streams = 0;    ///< number of sources whose examples are mixed; 0 for one
};

/// Shape of a micro batch.
struct BatchLayout {
  std::int64_t count = 0;  ///< examples
  std::int64_t length = 0; ///< tokens: longest example of the micro batch, to which the others are padded; else 1
  /// Number of loss terms: examples, or tokens that are not padding.
  std::int64_t loss_terms = 0;
};

/// Target token for padding; it does not contribute to the loss.
inline constexpr std::int64_t ignored_target = -100;

/// Inputs of the random changes to training examples, besides the example itself. They are the same in every micro
/// batch that contains an example, and in every attempt.
struct AugmentationDraw {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
};

/// Examples in host memory. Immutable after construction; any thread may read.
class Dataset {
public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  virtual const ExampleShape& shape() const = 0;
  /// The sources of mixed examples; empty for one. Indices 0.. are those of the first, then those of the next follow.
  virtual const std::vector<Stream>& streams() const;
  /// The characters that the tokens stand for, ascending; null if tokens stand for none.
  virtual const std::vector<char32_t>* vocabulary() const { return nullptr; }
  /// Names of the classes by number; null if the data do not name them.
  virtual const std::vector<std::string>* class_names() const { return nullptr; }

  /// Shape of the micro batch made of these examples (indices 0..size()-1, in this order).
  virtual BatchLayout layout(std::span<const std::int64_t> indices) const = 0;

  // Call only those of the following functions that match shape(); the others throw Error (failed).

  /// Writes the inputs of the examples (features and images only), row-major with the example as the first dimension:
  /// `inputs` holds count * product(dimensions) floats.
  virtual void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const;
  /// The same as a training step sees them: with the data's augmentation, if there is one.
  virtual void fill_training_inputs(std::span<const std::int64_t> indices, const AugmentationDraw& draw,
                                    float* inputs) const;
  /// Writes count * length token ids; `length` is at least that of the layout, and padding is token 0.
  virtual void fill_tokens(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* tokens) const;
  /// Writes labels. Target::classes: count labels. Target::next_token: count * length ids or ignored_target.
  virtual void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const;
  /// Writes the targets of Target::number: count floats.
  virtual void fill_numbers(std::span<const std::int64_t> indices, float* numbers) const;

  /// CRC-32C of all inputs and targets in the order of the examples, before augmentation. The first call goes through
  /// all of them, about as fast as memory can be read. Nothing for examples that are generated, which the data's text
  /// determines.
  virtual std::optional<std::uint32_t> checksum() const;

private:
  virtual bool is_generated() const { return false; }
  virtual std::uint32_t compute_checksum() const;

  mutable std::once_flag summed_;
  mutable std::uint32_t checksum_ = 0; ///< set once, by summed_
};

/// An example of the greatest length (tokens; any for other inputs), which needs the most memory. Stops at the first
/// one of the maximum length; else takes a look at each.
std::int64_t longest_example(const Dataset& data);

/// The shape of the examples; for tokens, with the length of the longest one.
ExampleShape longest_shape(const Dataset& data);

/// The number of examples, and of each stream if there are several.
struct ExampleCounts {
  ExampleCounts(std::int64_t total = 0) : total(total) {} ///< of one source
  ExampleCounts(std::vector<Stream> streams);             ///< their sum
  std::int64_t total;
  std::vector<Stream> streams;
};
ExampleCounts count_examples(const Dataset& data);

/// A data set, split into training and validation examples.
struct DataSplit {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> validation; ///< null if nothing is held out
};

/// Options for opening a data set, besides its `--data` text.
struct DataOptions {
  std::int64_t context = 128;   ///< tokens: window of `text:`, longest line of `lines:`, example of synthetic tokens
  std::string augment = "none"; ///< see parse_augmentation()
};

/// Opens the data set that a `--data` text names:
/// - `demo`: the bundled images, 8,000 for training and 2,000 for validation, from resources_folder().
/// - `idx:IMAGES,LABELS`: 8-bit images and labels, each plain or gzip. Inputs are (v/255 - mean)/std with the training
///   part's mean and std over all pixels.
/// - `text:FILE`: UTF-8. A token is a character (code point); the vocabulary is the distinct characters in code point
///   order. An example is a window of `context` characters; its targets are the characters that follow each. Windows do
///   not overlap. The validation part is the end of the text, not a random sample.
/// - `lines:FILE`: UTF-8, one example per line, including the newline character that ends it. Empty lines are skipped;
///   lines are cut to context + 1 characters, newline included.
/// - `csv:FILE,target=NAME`: a header line, then rows of numbers; fields may be quoted. With `header=no` the file has
///   no header line, and the target is a column number from 1 (`csv:FILE,header=no,target=3`). Features are
///   standardized with the training part's mean and std. The target is a class if any of its values is not a number, or
///   if all are whole numbers with at most 20 distinct values; classes are numbered in the order of their texts or
///   numbers. Otherwise it is a number, used unchanged.
/// - `npy:INPUTS,TARGETS`: arrays of NumPy, each plain or gzip: (examples, features), (examples, height, width) or
///   (examples, channels, height, width), with `channels=last` (examples, height, width, channels). Elements are
///   booleans, integers or floats. Targets of an integer type are classes from 0, those of a floating-point type are
///   numbers, used unchanged. Inputs are standardized with the training part's mean and std, by feature or by channel.
/// - `npz:FILE`: the same from the arrays `x` and `y` of an archive, or those named with `inputs=` and `targets=`.
/// - `images:DIR`: PNG and JPEG images, 8 bits a channel, with one folder for each class. Classes are numbered in the
///   order of the folders' names; hidden files and files beside the folders are skipped. Images are grey if all files
///   are. They must have the same size, unless `size=WxH` resizes them: scaled to cover it, and cut equally at both
///   sides. Inputs are (v/255 - mean)/std with the training part's mean and std of each channel.
/// - `synthetic:examples=1000,shape=3x32x32,classes=10` (`shape=20`: features) or
///   `synthetic:examples=1000,vocabulary=65`: a learnable task, generated from a hash one example at a time, so any
///   number of examples takes no memory. At most 100,000 examples are held out, because each evaluation goes through
///   all of them.
///
/// - `NAME=SOURCE,NAME=SOURCE`, each SOURCE one of the above: several streams that are mixed in every batch. Their
///   examples must have the same shape and the same classes or, without characters, the same vocabulary; the
///   vocabulary of texts is that of all together. Features are standardized and pixels normalized by stream. Validation
///   goes through what all streams hold out.
///
/// All of them accept `validation=0.2` (0..0.9), the fraction held out: a random sample drawn with a fixed hash, the
/// same in every run. All but synthetic data are read into memory, after every size has been checked against what the
/// file holds, and those of arrays and folders of images against the memory that is free. Throws Error (input) naming
/// the file, the offset or line, and what was expected.
DataSplit open_data(const std::string& text, const DataOptions& options = {});
/// The forms of a text, with what there is to know, one for each kind of data: `csv:FILE,target=NAME or
/// csv:FILE,header=no,target=NUMBER`.
std::vector<std::string> data_forms();

/// The user's files that a `--data` text names, and those of a folder, without those shipped with the program. Throws
/// as check_data_text() does.
std::vector<std::string> data_files(const std::string& text);

/// The names of the streams in a `--data` text; empty for one source. Throws as check_data_text() does.
std::vector<std::string> stream_names(const std::string& text);
/// Whether examples of a source that the text names have lengths that differ. Throws as check_data_text() does.
bool lengths_vary(const std::string& text);

/// Checks only the form of the text; opens nothing. Throws what open_data() throws.
void check_data_text(const std::string& text);

} // namespace batchscope::data
