# bobbin_view_page(bobbin_profile DIRECTORY): DIRECTORY/view.html, view.css and the scripts, one behind
# the other, as the text of "profile/view_page.h", so that the program needs no file beside it.
function(bobbin_view_page target directory)
  foreach(part html css)
    file(READ ${directory}/view.${part} BOBBIN_VIEW_${part})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/view.${part})
  endforeach()
  set(BOBBIN_VIEW_js "")
  foreach(script model words graph heat table page)
    file(READ ${directory}/${script}.js text)
    string(APPEND BOBBIN_VIEW_js "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/${script}.js)
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/view_page.h.in
                 ${PROJECT_BINARY_DIR}/view/profile/view_page.h @ONLY)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/view)
endfunction()
