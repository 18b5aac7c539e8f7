# What a library on macOS exports: the list of library.map or backend.map, in the form that Apple's linker takes.

# Writes the names that the version script `map` makes global, one a line, with the underscore that C names have there.
function(write_exported_symbols map list)
  file(READ "${map}" text)
  string(REGEX REPLACE "/[*][^/]*[*]/" "" text "${text}")
  string(REGEX REPLACE ".*global:(.*)local:.*" "\\1" names "${text}")
  string(REGEX MATCHALL "[^;\n ]+" names "${names}")
  list(TRANSFORM names PREPEND "_")
  list(JOIN names "\n" names)
  file(WRITE "${list}" "${names}\n")
endfunction()

function(limit_dylib_exports target map)
  get_filename_component(name "${map}" NAME_WE)
  set(exported "${CMAKE_BINARY_DIR}/exports/${name}.txt")
  write_exported_symbols("${map}" "${exported}")
  target_link_options(${target} PRIVATE "LINKER:-exported_symbols_list,${exported}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exported}")
endfunction()
