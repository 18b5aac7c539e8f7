# What of llama.cpp is built, and how every library is linked.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# One folder for all: the backends look for their siblings, and OpenMP, beside themselves.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
if(APPLE)
  set(CMAKE_INSTALL_RPATH "@loader_path")
  set(CMAKE_MACOSX_RPATH ON)
else()
  set(CMAKE_INSTALL_RPATH "$ORIGIN")
endif()

if(SKBUILD)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON) # whoever compiles for himself finds his own CUDA and OpenMP where they were linked
endif()

# No path of the building machine ends up in an assertion message.
if(NOT MSVC)
  add_compile_options("-ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/vendor/=" "-ffile-prefix-map=${CMAKE_BINARY_DIR}/=")
endif()
# A library's calls to its own functions stay inside it (-Bsymbolic), and nothing it needs is left to chance (-z defs).
# What it exports is in a version script: library.map, backend.map.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options("LINKER:-Bsymbolic" "LINKER:-z,defs" "LINKER:-s")
elseif(APPLE)
  include(MacLibraries)
  add_link_options("LINKER:-x") # no local symbols
elseif(WIN32)
  include(WindowsLibraries)
endif()

function(llama_default name value)
  if(NOT DEFINED CACHE{${name}})
    set(${name} ${value} CACHE STRING "Set by the wheel build")
  endif()
endfunction()

# Wheels for others carry every CPU variant, as plugins: buildsys asks for that. Whoever compiles for himself, as
# `pip install` of the source distribution does, gets the one CPU backend that his machine runs best, as a library that
# ggml links: ggml refuses machine code of unstated needs as a plugin.
llama_default(GGML_CPU_ALL_VARIANTS OFF)
llama_default(GGML_BACKEND_DL ${GGML_CPU_ALL_VARIANTS})
if(GGML_BACKEND_DL OR CMAKE_CROSSCOMPILING)
  llama_default(GGML_NATIVE OFF)
else()
  llama_default(GGML_NATIVE ON)
endif()

llama_default(BUILD_SHARED_LIBS ON)
llama_default(GGML_OPENMP ON)
llama_default(GGML_RPC ON)
llama_default(GGML_CCACHE OFF)
llama_default(LLAMA_BUILD_COMMON ON)
llama_default(LLAMA_BUILD_MTMD ON)
foreach(part TESTS TOOLS EXAMPLES SERVER APP UI)
  llama_default(LLAMA_BUILD_${part} OFF)
endforeach()
llama_default(LLAMA_USE_PREBUILT_UI OFF)
llama_default(LLAMA_OPENSSL OFF)

# What the libraries say of their origin is the pin. Git would be asked by ggml, and answer with an abbreviation as long
# as the clone at hand needs, or with the commit of a repository that merely lies around these files.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/buildsys/pin.toml" pinned_commit REGEX "^commit = ")
string(REGEX MATCH "\"[0-9a-f]+" pinned_commit "${pinned_commit}")
string(SUBSTRING "${pinned_commit}" 1 9 pinned_commit)
llama_default(LLAMA_BUILD_COMMIT "${pinned_commit}")
llama_default(LLAMA_BUILD_NUMBER 0)
set(GIT_EXE "" CACHE INTERNAL "Nothing asks git")
