# Imported target LibTorch::LibTorch from a torch folder (the PyPI wheel's layout). LibTorch's own CMake package fails
# without a CUDA toolkit, although none is needed to compile and link.
#
# Input: BATCHSCOPE_TORCH, a CMake or environment variable; without it, the folder that setup downloads.
set(torch_asked "${BATCHSCOPE_TORCH}")
if(NOT torch_asked)
  set(torch_asked "$ENV{BATCHSCOPE_TORCH}")
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "BATCHSCOPE_TORCH=${torch_asked}" "${PROJECT_SOURCE_DIR}/scripts/libtorch-folder" torch
  OUTPUT_VARIABLE LibTorch_DIRECTORY ERROR_VARIABLE torch_error
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
execute_process(
  COMMAND "${PROJECT_SOURCE_DIR}/scripts/libtorch-folder" cuda-headers
  OUTPUT_VARIABLE cuda_headers ERROR_VARIABLE headers_error
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
if(NOT LibTorch_DIRECTORY OR NOT cuda_headers)
  message(FATAL_ERROR "${torch_error}${headers_error}")
endif()
set(LibTorch_FOUND TRUE)

if(NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED GLOBAL)
  # Sources include the operators that they use, and not the 3,000 others that Tensor's members would bring.
  target_compile_definitions(LibTorch::LibTorch INTERFACE AT_PER_OPERATOR_HEADERS)
  # Searched last: the wheel has headers of another fmt version than the system's, which is the one that is linked.
  foreach(folder include include/torch/csrc/api/include)
    target_compile_options(LibTorch::LibTorch INTERFACE "SHELL:-idirafter ${LibTorch_DIRECTORY}/${folder}")
  endforeach()
  # Searched first, so that no CUDA toolkit is needed and one of another version does no harm: the headers of the CUDA
  # runtime wheel beside torch, and those that they include.
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
    "${LibTorch_DIRECTORY}/../nvidia/cu13/include" "${cuda_headers}")
  target_link_libraries(LibTorch::LibTorch INTERFACE
    "${LibTorch_DIRECTORY}/lib/libtorch_cpu.so" "${LibTorch_DIRECTORY}/lib/libc10.so")
  # Headers of CUDA, where torch has its CUDA part.
  if(EXISTS "${LibTorch_DIRECTORY}/lib/libc10_cuda.so")
    add_library(LibTorch::CudaHeaders INTERFACE IMPORTED GLOBAL)
    target_include_directories(LibTorch::CudaHeaders SYSTEM INTERFACE
      "${LibTorch_DIRECTORY}/../nvidia/cu13/include" "${cuda_headers}" "${LibTorch_DIRECTORY}/include")
  endif()
  # This path is also used for libtorch_cuda.so, which is opened only if a GPU is requested. It is a DT_RPATH, because a
  # DT_RUNPATH is not searched if a sanitizer's library calls dlopen for the program.
  target_link_options(LibTorch::LibTorch INTERFACE
    -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags "-Wl,-rpath,${LibTorch_DIRECTORY}/lib")
endif()
