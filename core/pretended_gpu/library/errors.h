#pragma once

#include <cuda_runtime_api.h>

/// The error that a call of CUDA's runtime returns: this one, or that of broken GPUs. Kept for cudaGetLastError().
cudaError_t reported(cudaError_t error);

/// The current device of this thread.
int current_device();
