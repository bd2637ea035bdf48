# LibTorch from a torch folder (the PyPI wheel's layout), as one imported target LibTorch::LibTorch.
# LibTorch's own CMake package stops where no CUDA toolkit is, although none is needed to compile and link.
#
# Input: BATCHSCOPE_TORCH, a CMake or environment variable; without it, the folder that set-up loads.
set(torch_asked "${BATCHSCOPE_TORCH}")
if(NOT torch_asked)
  set(torch_asked "$ENV{BATCHSCOPE_TORCH}")
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "BATCHSCOPE_TORCH=${torch_asked}" "${PROJECT_SOURCE_DIR}/scripts/libtorch-folder"
  OUTPUT_VARIABLE LibTorch_DIRECTORY ERROR_VARIABLE torch_error
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_DIRECTORY REASON_FAILURE_MESSAGE "${torch_error}")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  # The runtime wheel's headers lie beside torch: cuda_runtime_api.h without a toolkit.
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch INTERFACE
    "${LibTorch_DIRECTORY}/include" "${LibTorch_DIRECTORY}/include/torch/csrc/api/include"
    "${LibTorch_DIRECTORY}/../nvidia/cu13/include")
  target_link_libraries(LibTorch::LibTorch INTERFACE
    "${LibTorch_DIRECTORY}/lib/libtorch_cpu.so" "${LibTorch_DIRECTORY}/lib/libc10.so")
  # The path also finds libtorch_cuda.so, which is opened only where a GPU is asked for.
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined "-Wl,-rpath,${LibTorch_DIRECTORY}/lib")
endif()
