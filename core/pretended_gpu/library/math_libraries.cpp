// cuBLAS and cuDNN, as far as LibTorch reads what they answer. All else is a stub that succeeds.
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "core/pretended_gpu/library/errors.h"
#include "core/pretended_gpu/library/gpus.h"

using namespace batchscope::pretended_gpu;

namespace {

// From the public interfaces of these libraries.
constexpr int success = 0;
constexpr int cublas_not_initialized = 1;
constexpr std::size_t lt_result_bytes =
    64 + 8 + 4;                           ///< of cublasLtMatmulHeuristicResult_t: algorithm, workspace, status
constexpr int cudnn_plan_workspace = 402; ///< CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
constexpr int cudnn_int64 = 3;            ///< CUDNN_TYPE_INT64
constexpr int cudnn_int32 = 23;           ///< CUDNN_TYPE_INT32, as of the shared memory that an engine needs
constexpr int cudnn_version = 92600;

/// Handles are only passed back.
int make_handle(void** handle) {
  *handle = std::calloc(1, 64);
  return success;
}

int free_handle(void* handle) {
  std::free(handle);
  return success;
}

} // namespace

extern "C" {

/// It needs memory of the card, and fails so where that is full.
int cublasCreate_v2(void** handle) {
  const std::size_t bytes = Gpus::instance().description().handle;
  if (bytes > 0 && Gpus::instance().allocate(current_device(), bytes) == nullptr)
    return cublas_not_initialized;
  return make_handle(handle);
}

int cublasDestroy_v2(void* handle) {
  return free_handle(handle);
}

int cublasGetMathMode(void*, int* mode) {
  *mode = 0;
  return success;
}

int cublasGetPointerMode_v2(void*, int* mode) {
  *mode = 0;
  return success;
}

int cublasLtCreate(void** handle) {
  return make_handle(handle);
}

std::size_t cublasLtGetVersion() {
  return 130400;
}

int cublasLtMatmulDescCreate(void** description, int, int) {
  return make_handle(description);
}

int cublasLtMatmulDescDestroy(void* description) {
  return free_handle(description);
}

int cublasLtMatmulPreferenceCreate(void** preference) {
  return make_handle(preference);
}

int cublasLtMatmulPreferenceDestroy(void* preference) {
  return free_handle(preference);
}

int cublasLtMatrixLayoutCreate(void** layout, int, unsigned long, unsigned long, long) {
  return make_handle(layout);
}

int cublasLtMatrixLayoutDestroy(void* layout) {
  return free_handle(layout);
}

int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void* results, int* count) {
  std::memset(results, 0, lt_result_bytes);
  *count = 1;
  return success;
}

int cudnnCreate(void** handle) {
  return make_handle(handle);
}

std::size_t cudnnGetVersion() {
  return cudnn_version;
}

/// Parts of cudnnGetVersion(): 0 the major, 1 the minor version, 2 the level of patches.
int cudnnGetProperty(int which, int* value) {
  const int parts[] = {cudnn_version / 10000, cudnn_version / 100 % 100, cudnn_version % 100};
  *value = parts[which];
  return success;
}

const char* cudnnGetErrorString(int) {
  return "not on a pretended GPU";
}

int cudnnBackendCreateDescriptor(int, void** descriptor) {
  return make_handle(descriptor);
}

int cudnnBackendDestroyDescriptor(void* descriptor) {
  return free_handle(descriptor);
}

int cudnnBackendGetAttribute(void*, int name, int type, long asked, long* count, void* values) {
  if (count != nullptr)
    *count = 1;
  if (values == nullptr || asked <= 0)
    return success;
  const long workspace = static_cast<long>(Gpus::instance().description().workspace);
  if (name == cudnn_plan_workspace)
    std::memcpy(values, &workspace, sizeof workspace);
  else if (type == cudnn_int64)
    std::memset(values, 0, sizeof(long));
  else if (type == cudnn_int32)
    std::memset(values, 0, sizeof(int));
  return success;
}

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void*, int, int, void*, void*, void*, void*, void*,
                                                             std::size_t* bytes) {
  *bytes = 0;
  return success;
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int, int, void*, void*, void*, void*, void*, void*, void*,
                                                      std::size_t* bytes) {
  *bytes = 0;
  return success;
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int, int, void*, void*, std::size_t* bytes) {
  *bytes = 0;
  return success;
}
}
