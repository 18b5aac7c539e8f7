# Which targets are the runtime, and their installation into the package: one file per library.

set(RUNTIME_DESTINATION llama_cpp/lib)
set(LLAMA_CPP_TARGETS llama llama-common mtmd)
set(GGML_CORE_TARGETS ggml-base ggml)
set(GGML_CPU_VARIANT_TARGETS)
set(GGML_BACKEND_TARGETS)

# GGML_AVAILABLE_BACKENDS is ggml's own list of the backend libraries it configured.
foreach(backend IN LISTS GGML_AVAILABLE_BACKENDS)
  if(backend MATCHES "^ggml-cpu(-|$)")
    list(APPEND GGML_CPU_VARIANT_TARGETS ${backend})
  else()
    list(APPEND GGML_BACKEND_TARGETS ${backend})
  endif()
endforeach()

# GCC's _tile_loadconfig tells the optimizer of 8 of the 64 bytes that it reads (amxtileintrin.h), so most of a tile
# configuration is never stored, and the first AMX instruction is an illegal one. Clang gets it right.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND "ggml-cpu-sapphirerapids" IN_LIST GGML_CPU_VARIANT_TARGETS)
  message(STATUS "Leaving out ggml-cpu-sapphirerapids: GCC miscompiles AMX")
  list(REMOVE_ITEM GGML_CPU_VARIANT_TARGETS ggml-cpu-sapphirerapids)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND TARGET ggml-cpu)
  include(CheckCCompilerFlag)
  check_c_compiler_flag(-mno-amx-tile COMPILER_KNOWS_AMX)
  if(COMPILER_KNOWS_AMX)
    target_compile_options(ggml-cpu PRIVATE -mno-amx-tile -mno-amx-int8 -mno-amx-bf16) # -march=native may have switched it on
  endif()
endif()

set(RUNTIME_TARGETS ${GGML_CORE_TARGETS} ${GGML_CPU_VARIANT_TARGETS} ${GGML_BACKEND_TARGETS} ${LLAMA_CPP_TARGETS})
foreach(target IN LISTS RUNTIME_TARGETS)
  set(exports "${CMAKE_CURRENT_SOURCE_DIR}/buildsys/native/library.map")
  if(target IN_LIST GGML_CPU_VARIANT_TARGETS OR target IN_LIST GGML_BACKEND_TARGETS)
    set(exports "${CMAKE_CURRENT_SOURCE_DIR}/buildsys/native/backend.map")
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports}")
  elseif(APPLE)
    limit_dylib_exports(${target} "${exports}")
  elseif(WIN32)
    limit_dll_exports(${target} "${exports}")
  endif()
  # A wheel cannot hold the symbolic links of versioned libraries: file name and SONAME are one.
  set_property(TARGET ${target} PROPERTY VERSION)
  set_property(TARGET ${target} PROPERTY SOVERSION)
  install(TARGETS ${target}
    LIBRARY DESTINATION ${RUNTIME_DESTINATION} COMPONENT runtime NAMELINK_SKIP
    RUNTIME DESTINATION ${RUNTIME_DESTINATION} COMPONENT runtime
    ARCHIVE DESTINATION unused COMPONENT development EXCLUDE_FROM_ALL)
endforeach()
add_custom_target(runtime ALL DEPENDS ${RUNTIME_TARGETS})

# The OpenMP runtime that was linked lies beside the backends: they are opened by path, and so is what they need.
# Where a program links an import library, the toolchain says which file is the runtime itself.
if(NOT LLAMA_CPP_OPENMP_RUNTIME)
  set(LLAMA_CPP_OPENMP_RUNTIME "${OpenMP_omp_LIBRARY}")
endif()
if(LLAMA_CPP_OPENMP_RUNTIME)
  file(REAL_PATH "${LLAMA_CPP_OPENMP_RUNTIME}" OPENMP_RUNTIME)
  install(FILES "${OPENMP_RUNTIME}" DESTINATION ${RUNTIME_DESTINATION} COMPONENT runtime)
endif()
