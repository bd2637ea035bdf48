#include "core/pretended_gpu/library/gpus.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "core/pretended_gpu/detail/variable.h"

namespace batchscope::pretended_gpu {

namespace {

/// `name=value` in each line; what is not known is of a later version.
Description read_description() {
  Description read;
  const char* text = std::getenv(variable);
  std::istringstream lines(text != nullptr ? text : "");
  std::string line;
  while (std::getline(lines, line)) {
    const std::string name = line.substr(0, line.find('='));
    const std::string value = line.substr(std::min(line.size(), name.size() + 1));
    const auto number = [&value] { return std::strtoull(value.c_str(), nullptr, 10); };
    if (name == "name")
      read.name = value;
    else if (name == "memory")
      read.memory = number();
    else if (name == "capability")
      read.capability = static_cast<int>(number());
    else if (name == "multiprocessors")
      read.multiprocessors = static_cast<int>(number());
    else if (name == "count")
      read.count = static_cast<int>(number());
    else if (name == "driver")
      read.driver = static_cast<int>(number());
    else if (name == "context")
      read.context = number();
    else if (name == "handle")
      read.handle = number();
    else if (name == "workspace")
      read.workspace = number();
    else if (name == "kept_copy")
      read.kept_copy = number();
  }
  // As a driver does, for programs that are given a GPU of several, or none.
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    std::istringstream indices(visible);
    std::string index;
    int seen = 0;
    while (std::getline(indices, index, ',')) {
      char* end = nullptr;
      const long number = std::strtol(index.c_str(), &end, 10);
      if (end == index.c_str() || *end != '\0' || number < 0 || number >= read.count)
        break; // and none after it
      ++seen;
    }
    read.count = seen;
  }
  return read;
}

} // namespace

Gpus& Gpus::instance() {
  static auto* gpus = new Gpus;
  return *gpus;
}

Gpus::Gpus() : description_(read_description()), gpus_(static_cast<std::size_t>(description_.count)) {}

bool Gpus::take_locked(Gpu& gpu, std::size_t bytes, bool others) {
  const std::size_t context = gpu.has_context || others ? 0 : description_.context;
  if (bytes + context > description_.memory - gpu.used)
    return false;
  gpu.used += bytes + context;
  gpu.has_context = gpu.has_context || !others;
  return true;
}

bool Gpus::take(int device, std::size_t bytes, bool others) {
  const std::lock_guard lock(mutex_);
  return take_locked(gpu(device), bytes, others);
}

void Gpus::give_back(int device, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  gpu(device).used -= std::min(gpu(device).used, bytes);
}

void* Gpus::allocate(int device, std::size_t bytes) {
  const std::size_t size = in_units(bytes);
  const std::lock_guard lock(mutex_);
  if (!take_locked(gpu(device), size, false))
    return nullptr;
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    gpu(device).used -= size;
    return nullptr;
  }
  blocks_[data] = {size, device};
  return data;
}

bool Gpus::free(void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(data);
  if (found == blocks_.end())
    return false;
  munmap(data, found->second.bytes);
  gpu(found->second.device).used -= found->second.bytes;
  blocks_.erase(found);
  return true;
}

void Gpus::map(void* data, std::size_t bytes, int device) {
  const std::lock_guard lock(mutex_);
  blocks_[data] = {bytes, device};
}

void Gpus::unmap(void* data) {
  const std::lock_guard lock(mutex_);
  blocks_.erase(data);
}

std::size_t Gpus::free_bytes(int device) {
  const std::lock_guard lock(mutex_);
  return description_.memory - gpu(device).used;
}

std::map<void*, Gpus::Block>::iterator Gpus::holding(const void* data) {
  const auto after = blocks_.upper_bound(const_cast<void*>(data));
  if (after == blocks_.begin())
    return blocks_.end();
  const auto block = std::prev(after);
  return static_cast<const char*>(data) < static_cast<char*>(block->first) + block->second.bytes ? block
                                                                                                 : blocks_.end();
}

int Gpus::device_of(const void* data) {
  const std::lock_guard lock(mutex_);
  const auto block = holding(data);
  return block == blocks_.end() ? -1 : block->second.device;
}

int Gpus::broken() {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void Gpus::breaks(int error) {
  const std::lock_guard lock(mutex_);
  broken_ = error;
}

Counts Gpus::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

} // namespace batchscope::pretended_gpu

using batchscope::pretended_gpu::Gpus;

void batchscope_pretended_counts(batchscope::pretended_gpu::Counts* counts) {
  *counts = Gpus::instance().counts();
}

bool batchscope_pretended_others(int device, std::int64_t bytes) {
  if (bytes < 0) {
    Gpus::instance().give_back(device, static_cast<std::size_t>(-bytes));
    return true;
  }
  return Gpus::instance().take(device, static_cast<std::size_t>(bytes), true);
}

void batchscope_pretended_breaks(int error) {
  Gpus::instance().breaks(error);
}
