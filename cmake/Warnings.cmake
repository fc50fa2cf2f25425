# What every file of ours is compiled with; link it PRIVATE.
add_library(bobbin_warnings INTERFACE)
target_compile_options(bobbin_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
  $<$<BOOL:${BOBBIN_WERROR}>:-Werror>)
