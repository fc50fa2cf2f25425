# bobbin_read_together(tables base elf cfi [SOURCES main.cpp])
# The sources of these modules as one translation unit with the flags of all of them, for a linter that
# spends its time in headers (tests/house/read_together, which writes the joined source). Nothing is
# built of it: it is here for compile_commands.json.
function(bobbin_read_together name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(joined ${PROJECT_BINARY_DIR}/read_together/${name}.cpp)
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  foreach(module IN LISTS ARG_UNPARSED_ARGUMENTS)
    file(GLOB of_module CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${module}/*.cpp)
    list(APPEND sources ${of_module})
  endforeach()
  list(JOIN sources "\n" lines)
  file(WRITE ${PROJECT_BINARY_DIR}/read_together/${name}.list "${lines}\n")
  set_source_files_properties(${joined} PROPERTIES GENERATED TRUE)
  add_library(bobbin_${name}_together OBJECT EXCLUDE_FROM_ALL ${joined})
  # Else compile_commands.json has the source that CMake joins, not this one.
  set_target_properties(bobbin_${name}_together PROPERTIES UNITY_BUILD OFF)
  foreach(module IN LISTS ARG_UNPARSED_ARGUMENTS)
    target_include_directories(bobbin_${name}_together
      PRIVATE $<TARGET_PROPERTY:bobbin_${module},INCLUDE_DIRECTORIES>)
    target_compile_definitions(bobbin_${name}_together
      PRIVATE $<TARGET_PROPERTY:bobbin_${module},COMPILE_DEFINITIONS>)
    target_compile_options(bobbin_${name}_together
      PRIVATE $<TARGET_PROPERTY:bobbin_${module},COMPILE_OPTIONS>)
  endforeach()
endfunction()
