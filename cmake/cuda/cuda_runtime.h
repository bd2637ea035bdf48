#pragma once

// LibTorch's headers include cuda_runtime.h. The real one needs a CUDA toolkit's compiler headers (crt/), which no
// wheel that torch asks for brings; code for the host needs only the C interface.
#include <cuda_runtime_api.h>
