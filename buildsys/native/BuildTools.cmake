# What compiled the libraries, written beside them for the bill of materials: it is CMake that knows. No part of the wheel.

if(SKBUILD_METADATA_DIR)
  return() # what a user compiles for himself has no bill of materials
endif()

set(compilers "{}")
foreach(language C CXX CUDA)
  if(CMAKE_${language}_COMPILER_LOADED)
    string(JSON compilers SET "${compilers}" ${language} "{}")
    string(JSON compilers SET "${compilers}" ${language} id "\"${CMAKE_${language}_COMPILER_ID}\"")
    string(JSON compilers SET "${compilers}" ${language} version "\"${CMAKE_${language}_COMPILER_VERSION}\"")
  endif()
endforeach()

execute_process(COMMAND "${CMAKE_MAKE_PROGRAM}" --version OUTPUT_VARIABLE ninja_version OUTPUT_STRIP_TRAILING_WHITESPACE)
set(build_tools "{}")
string(JSON build_tools SET "${build_tools}" toolchain "\"${LLAMA_CPP_TOOLCHAIN}\"")
string(JSON build_tools SET "${build_tools}" cmake "\"${CMAKE_VERSION}\"")
string(JSON build_tools SET "${build_tools}" ninja "\"${ninja_version}\"")
string(JSON build_tools SET "${build_tools}" compilers "${compilers}")
file(WRITE "${CMAKE_BINARY_DIR}/build-tools.json" "${build_tools}\n")
install(FILES "${CMAKE_BINARY_DIR}/build-tools.json" DESTINATION . COMPONENT runtime)
