# What every file of ours is compiled with; link it PRIVATE.
add_library(bobbin_warnings INTERFACE)
target_compile_options(bobbin_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
  -Wno-missing-field-initializers # designated initializers leave the rest at its default on purpose
  $<$<BOOL:${BOBBIN_WERROR}>:-Werror>)
