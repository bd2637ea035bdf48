#pragma once

// LibTorch's headers include cuda_runtime.h. The real one needs a CUDA toolkit's compiler headers (crt/), which no
// wheel required by torch contains; host code needs only the C interface.
#include <cuda_runtime_api.h>
