# bpf_skeleton(profiler): bpf/profiler.bpf.c -> profiler.bpf.o -> profiler.skel.h -> target
# bobbin_profiler_skel. The depfile tracks every header; the skeleton appears by a rename, so that a
# failed run leaves none. FOLDER: where the source lies, if not in bpf/; FLAGS: more for the compiler;
# AS: the skeleton's name, if not the source's, which then has a folder of its own.
find_program(BOBBIN_BPF_CLANG NAMES clang-19 REQUIRED)
find_program(BOBBIN_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)

function(bpf_skeleton name)
  cmake_parse_arguments(ARG "" "FOLDER;AS" "FLAGS" ${ARGN})
  set(source ${PROJECT_SOURCE_DIR}/bpf/${name}.bpf.c)
  if(ARG_FOLDER)
    set(source ${ARG_FOLDER}/${name}.bpf.c)
  endif()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(skeleton_name ${name})
  set(skeleton_folder ${CMAKE_CURRENT_BINARY_DIR})
  if(ARG_AS)
    set(skeleton_name ${ARG_AS})
    set(skeleton_folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
    file(MAKE_DIRECTORY ${skeleton_folder})
  endif()
  set(skeleton ${skeleton_folder}/${skeleton_name}.skel.h)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${BOBBIN_BPF_CLANG} -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -std=gnu11 -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -O2 -g
            -Wall -Wextra -Werror -Wno-unused-parameter # callbacks have fixed signatures
            -I${PROJECT_SOURCE_DIR}/include ${ARG_FLAGS} -MD -MF ${object}.d -MT ${object}
            -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "BPF ${name}.bpf.o"
    VERBATIM)
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND sh -c "\"$1\" gen skeleton \"$2\" name \"$3\" > \"$4.tmp\" && mv \"$4.tmp\" \"$4\""
            sh ${BOBBIN_BPFTOOL} ${object} ${skeleton_name}_bpf ${skeleton}
    DEPENDS ${object}
    COMMENT "BPF ${name}.skel.h"
    VERBATIM)
  add_custom_target(bobbin_${name}_skel_file DEPENDS ${skeleton})
  add_library(bobbin_${name}_skel INTERFACE)
  add_dependencies(bobbin_${name}_skel bobbin_${name}_skel_file)
  target_include_directories(bobbin_${name}_skel SYSTEM INTERFACE ${skeleton_folder})
  target_link_libraries(bobbin_${name}_skel INTERFACE PkgConfig::LIBBPF)
endfunction()
