#include "core/meta/detail/autocast.h"

#include <unordered_map>
#include <utility>

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include "core/meta/detail/host_kernel.h"

namespace batchscope::meta {

namespace {

/// Tensors on `meta` have no dispatch key for autocast, so scopes add one: that of a device which LibTorch supports no
/// more, with no kernels of its own.
constexpr c10::DispatchKey key = c10::DispatchKey::AutocastIPU;

struct Casts {
  c10::ScalarType type = c10::kFloat;
  /// Casts of parameters, by the parameter.
  std::unordered_map<const c10::TensorImpl*, std::pair<at::Tensor, at::Tensor>> of_parameters;
};

Casts& casts() {
  thread_local Casts of_thread;
  return of_thread;
}

void set_key(bool on) {
  c10::impl::tls_set_dispatch_key_excluded(key, !on);
  c10::impl::tls_set_dispatch_key_included(key, on);
}

at::Tensor cast(const at::Tensor& x, c10::ScalarType type) {
  if (!x.defined() || !x.is_meta() || !x.is_floating_point() || x.scalar_type() == type)
    return x;
  if (type == c10::kFloat || x.scalar_type() != c10::kFloat || !x.requires_grad() || !x.is_leaf() || x.is_view())
    return x.to(type);
  auto& known = casts().of_parameters[x.unsafeGetTensorImpl()];
  if (!known.second.defined())
    known = {x, x.to(type)};
  return known.second;
}

template <typename Function>
void for_each_tensor(const c10::OperatorHandle& operation, torch::jit::Stack& stack, const Function& function) {
  for (std::size_t i = stack.size() - operation.schema().arguments().size(); i < stack.size(); ++i) {
    if (stack[i].isTensor()) {
      stack[i] = function(stack[i].toTensor());
    } else if (stack[i].isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : stack[i].toTensorVector())
        list.push_back(function(each));
      stack[i] = std::move(list);
    }
  }
}

void call_with(const c10::OperatorHandle& operation, torch::jit::Stack* stack, c10::ScalarType type) {
  const c10::impl::ExcludeDispatchKeyGuard once(key);
  for_each_tensor(operation, *stack, [&](const at::Tensor& x) { return cast(x, type); });
  operation.callBoxed(stack);
}

void in_lower_precision(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  call_with(operation, stack, casts().type);
}

/// GPUs only: on `cpu` these operators take what they get.
void in_full_precision_on_gpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard once(key);
  if (counts_host_workspace())
    operation.callBoxed(stack);
  else
    call_with(operation, stack, c10::kFloat);
}

/// In the widest type of the inputs.
void in_widest_precision(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  c10::ScalarType widest = casts().type;
  for_each_tensor(operation, *stack, [&](const at::Tensor& x) {
    if (x.defined() && x.scalar_type() == c10::kFloat)
      widest = c10::kFloat;
    return x;
  });
  call_with(operation, stack, widest);
}

std::string name_of(const char* operation) {
  return operation;
}
std::string name_of(const char* operation, const char* overload) {
  return std::string(operation) + '.' + overload;
}

} // namespace

AutocastScope::AutocastScope(c10::ScalarType type) : before_(std::exchange(casts().type, type)) {
  set_key(type != c10::kFloat);
}

AutocastScope::~AutocastScope() {
  casts().type = before_;
  set_key(before_ != c10::kFloat);
  if (before_ == c10::kFloat)
    casts().of_parameters.clear();
}

c10::ScalarType AutocastScope::type() {
  return casts().type;
}

TORCH_LIBRARY_IMPL(_, AutocastIPU, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

#define NAMED_1(operation) name_of(#operation)
#define NAMED_2(operation, overload) name_of(#operation, #overload)
#define NAMED_BY_COUNT(first, second, macro, ...) macro
#define NAMED(...) NAMED_BY_COUNT(__VA_ARGS__, NAMED_2, NAMED_1)(__VA_ARGS__)
#define LOWER(...)                                                                                                     \
  library.impl(NAMED(__VA_ARGS__).c_str(), torch::CppFunction::makeFromBoxedFunction<&in_lower_precision>());
#define FULL(...)                                                                                                      \
  library.impl(NAMED(__VA_ARGS__).c_str(), torch::CppFunction::makeFromBoxedFunction<&in_full_precision_on_gpu>());

TORCH_LIBRARY_IMPL(aten, AutocastIPU, library) {
  AT_FORALL_LOWER_PRECISION_FP(LOWER)
  AT_FORALL_FP32(FULL)
  for (const char* operation : {"cat", "stack"})
    library.impl(operation, torch::CppFunction::makeFromBoxedFunction<&in_widest_precision>());
}

} // namespace batchscope::meta
