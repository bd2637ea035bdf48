# LibTorch from an installed torch folder (the PyPI wheel's layout), as one imported target LibTorch::LibTorch.
# LibTorch's own CMake package stops where no CUDA toolkit is, although none is needed to compile and link.
#
# Input: BATCHSCOPE_TORCH, the folder that holds lib/libtorch_cpu.so and include/.
find_path(LibTorch_DIRECTORY NAMES lib/libtorch_cpu.so HINTS "${BATCHSCOPE_TORCH}" "$ENV{BATCHSCOPE_TORCH}" NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_DIRECTORY)

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch INTERFACE
    "${LibTorch_DIRECTORY}/include" "${LibTorch_DIRECTORY}/include/torch/csrc/api/include")
  # The runtime wheel's headers lie beside torch: cuda_runtime_api.h without a toolkit.
  target_include_directories(LibTorch::LibTorch INTERFACE "${LibTorch_DIRECTORY}/../nvidia/cu13/include")
  target_link_libraries(LibTorch::LibTorch INTERFACE
    "${LibTorch_DIRECTORY}/lib/libtorch_cpu.so" "${LibTorch_DIRECTORY}/lib/libc10.so")
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined "-Wl,-rpath,${LibTorch_DIRECTORY}/lib")
endif()
