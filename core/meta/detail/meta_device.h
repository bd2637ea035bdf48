#pragma once

#include <memory>

#include "core/memory/device.h"

namespace batchscope::meta {

/// LibTorch's `meta` device as a Device: tensors have shapes but no data, and their blocks are counted as `cpu` counts
/// them, without taking memory. There is no limit.
///
/// Each MetaDevice counts the blocks that are allocated while one of its Scopes exists on the allocating thread, so
/// several threads can use one each at the same time. The device must outlive its tensors; they are freed on the thread
/// that uses it.
class MetaDevice : public memory::Device {
public:
  static std::unique_ptr<MetaDevice> open();

  /// While one exists, the allocations of this thread on `meta` are counted by `device`, and those on `cpu` by none.
  class Scope {
  public:
    explicit Scope(MetaDevice& device);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    struct State;
    std::unique_ptr<State> state_;
  };
};

} // namespace batchscope::meta
