#pragma once

#include <cstddef>

/// Memory of the pretended device, in bytes. The functions of CUDA's runtime that this program defines take the place
/// of the real ones, because a program's own symbols are searched first: cudaMalloc() reserves address space and counts
/// it against this capacity. Call it before LibTorch's allocator is initialized.
void set_pretended_capacity(std::size_t bytes);
