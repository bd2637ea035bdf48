#include "core/model/detail/networks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <tuple>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/input_file.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/memory/detail/torch_errors.h"

namespace batchscope::model {

namespace {

using data::ExampleShape;
using torch::jit::Module;

/// Examples of the forward pass that checks the shapes: not one, which broadcasting would hide.
constexpr std::int64_t examples_to_check = 3;

Error refused_script(const std::string& file, const std::string& why) {
  return input_error(fmt::format("--model: {}: {}", shortened(file), why), "model");
}

/// Refuses files of other formats, damaged ones, and those whose records claim more bytes than the file has.
void check_archive(const std::string& file) {
  std::array<char, 4> begin{};
  std::ifstream(file, std::ios::binary).read(begin.data(), begin.size());
  if (std::memcmp(begin.data(), "PK\3\4", begin.size()) != 0)
    throw refused_script(file, "not a TorchScript file; accepted: one that torch.jit.save() wrote");
  try {
    caffe2::serialize::PyTorchStreamReader reader(file);
    if (!reader.hasRecord("constants.pkl"))
      throw refused_script(file, "an archive, but not of TorchScript; accepted: a file that torch.jit.save() wrote "
                                 "(torch.save() and torch.export.save() write others)");
    for (const std::string& record : reader.getAllRecords())
      if (reader.getRecordSize(record) > std::filesystem::file_size(file))
        throw refused_script(file, fmt::format("damaged: its record {} is larger than the file", in_quotes(record)));
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw refused_script(file, "cut off or damaged: its list of records cannot be read");
  }
}

std::uint32_t checksum_of(const std::string& file) {
  data::InputFile input(file);
  constexpr std::uint64_t piece = 1U << 20;
  std::uint32_t checksum = 0;
  for (std::uint64_t left = input.compressed() ? 0 : input.max_bytes(); left > 0;) {
    const auto bytes = input.read(std::min(left, piece), "the model");
    checksum = crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, checksum);
    left -= bytes.size();
  }
  return checksum;
}

Module load_script(const std::string& file) {
  check_archive(file);
  try {
    return torch::jit::load(file, c10::kCPU);
  } catch (const std::exception& error) {
    throw refused_script(file, "cannot be loaded: " + memory::first_line(error));
  }
}

std::shared_ptr<torch::jit::Graph> whole_forward(const Module& module) {
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return graph;
}

template <typename Function> void for_each_node(const torch::jit::Block& block, const Function& visit) {
  for (const torch::jit::Node* node : block.nodes()) {
    visit(*node);
    for (const torch::jit::Block* inner : node->blocks())
      for_each_node(*inner, visit);
  }
}

/// One tensor in, one tensor out, and no state outside of tensors: a step can then be undone and a run resumed.
void check_forward(const std::string& file, const Module& module) {
  const auto method = module.find_method("forward");
  if (!method)
    throw refused_script(file, "has no forward()");
  const c10::FunctionSchema& schema = method->function().getSchema();
  const auto& inputs = schema.arguments(); // the first is the module
  const bool takes_one = inputs.size() >= 2 && inputs[1].type()->isSubtypeOf(*c10::TensorType::get()) &&
                         std::all_of(inputs.begin() + 2, inputs.end(),
                                     [](const auto& input) { return input.default_value().has_value(); });
  const auto& outputs = schema.returns();
  if (!takes_one || outputs.size() != 1 || !outputs[0].type()->isSubtypeOf(*c10::TensorType::get()))
    throw refused_script(file, fmt::format("its forward takes {} arguments and returns {}; accepted: one tensor, and "
                                           "one tensor",
                                           inputs.size() - 1, outputs.empty() ? "nothing" : outputs[0].type()->str()));
  for_each_node(*whole_forward(module)->block(), [&](const torch::jit::Node& node) {
    if (node.kind() == c10::prim::SetAttr)
      throw refused_script(file, fmt::format("its forward assigns to the attribute {}, so a step could not be undone; "
                                             "accepted: buffers that are changed in place",
                                             in_quotes(node.s(c10::attr::name))));
    const std::string_view name = node.kind().toQualString();
    if (name == "aten::save" || name == "aten::from_file")
      throw refused_script(file, "its forward uses files; accepted: operators on tensors");
  });
}

/// The kernels of `cpu` for recurrent layers take memory that those of `meta` know nothing of.
void check_dry_run(const std::string& file, const Module& module) {
  for_each_node(*whole_forward(module)->block(), [&](const torch::jit::Node& node) {
    const std::string_view name = node.kind().toQualString();
    if (name == "aten::lstm" || name == "aten::gru" || name == "aten::rnn_tanh" || name == "aten::rnn_relu")
      throw Error(Error::Kind::failed,
                  fmt::format("--model: {}: the memory of {} cannot be computed without running it; find measures it",
                              shortened(file), name),
                  "model");
  });
}

bool has_batch_norm_in(const Module& module) {
  bool found = false;
  for_each_node(*whole_forward(module)->block(), [&](const torch::jit::Node& node) {
    found = found || std::string_view(node.kind().toQualString()).find("batch_norm") != std::string_view::npos;
  });
  return found;
}

/// Puts a script's tensors on the device, each into a block of its own. Tied weights are one tensor in the file's code
/// and several in its list; they become one again.
class Placement {
public:
  Placement(const std::string& file, const LayerContext& context) : file_(file), context_(context) {}

  /// Parameters first: lists of weights, as recurrent layers have, hold the same tensors again.
  void place(const Module& root) {
    for (const bool parameters : {true, false})
      for (const auto& [path, module] : root.named_modules()) {
        const auto type = module.type();
        for (std::size_t slot = 0; slot < type->numAttributes(); ++slot)
          if (type->is_parameter(slot) == parameters)
            module._ivalue()->setSlot(slot, placed((path.empty() ? "" : path + '.') + type->getAttributeName(slot),
                                                   module._ivalue()->getSlot(slot), parameters));
      }
  }

private:
  using Place = std::tuple<const void*, std::int64_t, std::vector<std::int64_t>, std::vector<std::int64_t>>;

  static Place place_of(const at::Tensor& tensor) {
    return {tensor.storage().unsafeGetStorageImpl(), tensor.storage_offset(), tensor.sizes().vec(),
            tensor.strides().vec()};
  }

  c10::IValue placed(const std::string& name, const c10::IValue& value, bool is_parameter) {
    if (value.isTensor() && value.toTensor().defined())
      return placed_tensor(name, value.toTensor(), is_parameter);
    const auto part = [&](const c10::IValue& each, std::size_t i) {
      return placed(fmt::format("{}.{}", name, i), each, is_parameter);
    };
    if (value.isList()) {
      c10::List<c10::IValue> list = value.toList();
      for (std::size_t i = 0; i < list.size(); ++i)
        list.set(i, part(list.get(i), i));
    } else if (value.isTuple()) {
      std::vector<c10::IValue> elements;
      for (const c10::IValue& each : value.toTupleRef().elements())
        elements.push_back(part(each, elements.size()));
      return c10::ivalue::Tuple::create(std::move(elements));
    } else if (value.isGenericDict()) {
      std::size_t i = 0;
      for (const auto& entry : value.toGenericDict())
        entry.setValue(part(entry.value(), i++));
    }
    return value;
  }

  at::Tensor placed_tensor(const std::string& name, const at::Tensor& loaded, bool is_parameter) {
    if (const auto known = known_.find(place_of(loaded)); known != known_.end())
      return known->second;
    check(name, loaded, is_parameter);
    kept_.push_back(loaded); // so that no other tensor gets its place
    const bool trains = is_parameter && loaded.requires_grad();
    at::Tensor mine = at::empty(loaded.sizes(), at::TensorOptions(loaded.scalar_type()).device(context_.device));
    if (!context_.device.is_meta())
      mine.copy_(loaded);
    known_[place_of(loaded)] = mine;
    known_[place_of(mine)] = mine;
    return trains ? context_.add_parameter(name, mine) : context_.add_buffer(name, mine);
  }

  void check(const std::string& name, const at::Tensor& loaded, bool is_parameter) const {
    if (loaded.layout() != at::kStrided || loaded.is_quantized())
      throw refused_script(
          file_, fmt::format("its tensor {} is sparse or quantized; accepted: dense tensors", in_quotes(name)));
    if (is_parameter && loaded.requires_grad() && loaded.scalar_type() != at::kFloat)
      throw refused_script(file_, fmt::format("its parameter {} is of type {}; accepted: Float, from which --precision "
                                              "makes others",
                                              in_quotes(name), c10::toString(loaded.scalar_type())));
    const c10::Storage& storage = loaded.storage();
    const auto there = memory::BudgetAllocator::capacity(storage.data_ptr());
    if (storage.nbytes() > 0 && (!there || storage.nbytes() > *there))
      throw refused_script(file_, fmt::format("damaged: its tensor {} is larger than its record", in_quotes(name)));
  }

  const std::string& file_;
  const LayerContext& context_;
  std::map<Place, at::Tensor> known_;
  std::vector<at::Tensor> kept_;
};

/// The output that the loss takes: classes, a number, or the vocabulary at each token.
std::vector<std::int64_t> wanted_output(const ExampleShape& shape) {
  if (shape.target == ExampleShape::Target::next_token)
    return {examples_to_check, shape.dimensions.front(), shape.vocabulary};
  return {examples_to_check, outputs_for(shape)};
}

std::string in_brackets(at::IntArrayRef sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", "));
}

class TorchScript final : public Model {
public:
  explicit TorchScript(const NetworkOptions& options)
      : Model(options.dropout), file_(options.spec.file), checksum_(checksum_of(file_)) {
    const LayerContext context = layer_context(options.generator, options.device);
    {
      const memory::NotCounted own; // what comes from the file is copied
      module_ = load_script(file_);
    }
    check_forward(file_, module_);
    if (options.device.is_meta())
      check_dry_run(file_, module_);
    place(context);
    if (parameters().empty())
      throw refused_script(file_, "has no parameters to train");
    batch_norm_ = has_batch_norm_in(module_);
    module_.train(training_);
    check_shapes(options);
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    if (training != training_)
      module_.train(training_ = training);
    return module_.forward({input}).toTensor();
  }

  /// Which operators of a script draw is not known.
  bool draws() const override { return true; }
  bool has_own_batch_norm() const override { return batch_norm_; }
  std::optional<std::uint32_t> file_checksum() const override { return checksum_; }

private:
  void place(const LayerContext& context) {
    const at::NoGradGuard no_grad;
    Placement(file_, context).place(module_);
  }

  void check_shapes(const NetworkOptions& options) {
    const ExampleShape& shape = options.shape;
    const memory::NotCounted own;
    const at::AutoGradMode with_gradients(true);
    const bool tokens = shape.input == ExampleShape::Input::tokens;
    std::vector<std::int64_t> sizes{examples_to_check};
    sizes.insert(sizes.end(), shape.dimensions.begin(), shape.dimensions.end());
    const at::Tensor input =
        at::zeros(sizes, at::TensorOptions(tokens ? at::kLong : at::kFloat).device(options.device));
    const at::Tensor output = first_output(input, options);
    const std::vector<std::int64_t> wanted = wanted_output(shape);
    if (output.sizes() != at::IntArrayRef(wanted) || !output.is_floating_point())
      throw refused_script(file_, fmt::format("of a batch of {}, its forward returns {} {}; the data need Float {}",
                                              in_brackets(sizes), c10::toString(output.scalar_type()),
                                              in_brackets(output.sizes()), in_brackets(wanted)));
    check_gradients(output);
  }

  void check_gradients(const at::Tensor& output) {
    if (output.requires_grad())
      output.sum().backward();
    for (const auto& [name, tensor] : state())
      if (tensor.requires_grad() && !tensor.grad().defined())
        throw refused_script(file_, fmt::format("its parameter {} has no effect on the output, so it gets no gradient; "
                                                "accepted: without it, or with requires_grad False",
                                                in_quotes(name)));
    for (const at::Tensor& parameter : parameters())
      parameter.mutable_grad() = at::Tensor();
  }

  at::Tensor first_output(const at::Tensor& input, const NetworkOptions& options) {
    try {
      return forward(input, /*training=*/false);
    } catch (const std::exception& error) {
      const std::string why = memory::first_line(error);
      if (!options.device.is_meta())
        throw refused_script(file_,
                             fmt::format("its forward fails on a batch of {}: {}", in_brackets(input.sizes()), why));
      // Is the cause in the script, or only in what `meta` lacks? In the first case this fails, too.
      NetworkOptions on_host = options;
      on_host.device = at::kCPU;
      const TorchScript checked(on_host);
      throw Error(
          Error::Kind::failed,
          fmt::format("--model: {}: its memory cannot be computed without running it: {}", shortened(file_), why),
          "model");
    }
  }

  std::string file_;
  Module module_;
  bool training_ = false;
  bool batch_norm_ = false;
  std::uint32_t checksum_;
};

} // namespace

/// The user's own network, saved by torch.jit.save(), which brings its weights.
std::unique_ptr<Model> make_torchscript(const NetworkOptions& options) {
  return std::make_unique<TorchScript>(options);
}

} // namespace batchscope::model
