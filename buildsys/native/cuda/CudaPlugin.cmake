# How the plugin is linked and installed, and the licences of what is compiled into it.

find_package(CUDAToolkit REQUIRED)

# The CUDA libraries lie where the nvidia-* packages put them, as seen from llama_cpp/lib. Since 13 they share one folder.
if(CUDAToolkit_VERSION_MAJOR GREATER_EQUAL 13)
  set(packages cu${CUDAToolkit_VERSION_MAJOR})
else()
  set(packages cuda_runtime cublas)
endif()
set(search "$ORIGIN")
foreach(package IN LISTS packages)
  list(APPEND search "$ORIGIN/../../nvidia/${package}/lib")
endforeach()

set_target_properties(ggml-cuda PROPERTIES INSTALL_RPATH "${search}" EXCLUDE_FROM_ALL OFF)

# ggml-base stands for the one that is shipped, so it has its name, and exports what that one does: were its C++ runtime
# visible, the plugin would be linked with it instead of having its own.
foreach(target_and_map ggml-cuda:backend.map ggml-base:library.map)
  string(REPLACE ":" ";" pair "${target_and_map}")
  list(POP_FRONT pair target)
  set_property(TARGET ${target} PROPERTY VERSION)
  set_property(TARGET ${target} PROPERTY SOVERSION)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(exports "${LLAMA_CPP_ROOT}/buildsys/native/${pair}")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports}")
  endif()
endforeach()
add_custom_target(plugin ALL DEPENDS ggml-cuda)
install(TARGETS ggml-cuda
  LIBRARY DESTINATION llama_cpp/lib COMPONENT runtime NAMELINK_SKIP
  RUNTIME DESTINATION llama_cpp/lib COMPONENT runtime)

set(licences CCCL NVIDIA-CUDA)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND licences GCC)
endif()
list(TRANSFORM licences PREPEND "${LLAMA_CPP_ROOT}/licenses/cuda/")
list(TRANSFORM licences APPEND ".txt")
install(FILES ${licences} DESTINATION licenses COMPONENT runtime)

# What the plugin was made with, for the bill of materials; the build joins it with what the CPU libraries say of theirs.
find_file(CUB_VERSION_HEADER cub/version.cuh HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES cccl NO_DEFAULT_PATH REQUIRED)
file(STRINGS "${CUB_VERSION_HEADER}" line REGEX "define CUB_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+" number "${line}")
math(EXPR major "${number} / 100000")
math(EXPR minor "${number} / 100 % 1000")
math(EXPR patch "${number} % 100")
set(host "${CMAKE_CXX_COMPILER_ID}")
if(host STREQUAL "GNU")
  set(host gcc)
endif()
string(TOLOWER "${host}" host)
file(WRITE "${CMAKE_BINARY_DIR}/build-tools.json" "{
  \"compilers\": {\"CUDA\": {\"id\": \"${CMAKE_CUDA_COMPILER_ID}\", \"version\": \"${CMAKE_CUDA_COMPILER_VERSION}\"}},
  \"cccl\": \"${major}.${minor}.${patch}\",
  \"${host}\": \"${CMAKE_CXX_COMPILER_VERSION}\"
}
")
install(FILES "${CMAKE_BINARY_DIR}/build-tools.json" DESTINATION . COMPONENT runtime)
