# BOBBIN_SANITIZE=address,undefined or thread, for every target.
if(BOBBIN_SANITIZE)
  add_compile_options(-fsanitize=${BOBBIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BOBBIN_SANITIZE})
endif()
