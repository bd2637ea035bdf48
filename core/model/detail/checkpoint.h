#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

#include "core/model/detail/layers.h"

namespace batchscope::model {

/// A part of a network. It is called again during the backward pass, so what it refers to must live until then.
using Segment = std::function<at::Tensor(const at::Tensor& x, Pass pass)>;

/// Activation checkpointing (Chen et al. 2016) of a training pass: keeps only `x` for the backward pass, which computes
/// the segment again. The gradients are bit-identical to those of segment(x, Pass::training). `draws`: whether the
/// segment draws random numbers; the recomputation draws the same ones.
at::Tensor checkpointed(const Segment& segment, const at::Tensor& x, bool draws);

} // namespace batchscope::model
