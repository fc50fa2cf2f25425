# cmake --install: the program, what shells complete, and the man pages, which scdoc makes of
# packaging/man. The service and its configuration come with the Debian package (packaging/debian).
include(GNUInstallDirs)

install(TARGETS bobbin_main RUNTIME)
install(FILES packaging/completions/bobbin.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME bobbin)
install(FILES packaging/completions/_bobbin
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES packaging/completions/bobbin.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# ON: they have to be there. Else they are made where scdoc is.
option(BOBBIN_MAN_PAGES "man pages are required" OFF)
find_program(BOBBIN_SCDOC NAMES scdoc)
if(BOBBIN_SCDOC)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/man/*.scd)
  foreach(page IN LISTS pages)
    cmake_path(GET page STEM LAST_ONLY name) # bobbin.1
    string(REGEX MATCH "[0-9]$" section ${name})
    set(made ${PROJECT_BINARY_DIR}/man/${name})
    add_custom_command(
      OUTPUT ${made}
      COMMAND sh -c "\"$1\" < \"$2\" > \"$3.tmp\" && mv \"$3.tmp\" \"$3\""
              sh ${BOBBIN_SCDOC} ${page} ${made}
      DEPENDS ${page}
      COMMENT "man page ${name}"
      VERBATIM)
    list(APPEND made_pages ${made})
    install(FILES ${made} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endforeach()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
  add_custom_target(bobbin_man ALL DEPENDS ${made_pages})
elseif(BOBBIN_MAN_PAGES)
  message(FATAL_ERROR "man pages need scdoc")
endif()
