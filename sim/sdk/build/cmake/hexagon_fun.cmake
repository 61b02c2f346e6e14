# hexagon_fun.cmake: what a build with this SDK calls.
#
# build_idl(<file.idl> <target>) compiles an interface definition into <name>.h, <name>_stub.c and <name>_skel.c in the
# current binary folder, before the target is built. The target lists the stub or the skel among its sources.

get_filename_component(HEXAGON_FUN_SDK_ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

function(build_idl idl_file target)
    get_filename_component(idl "${idl_file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_filename_component(name "${idl_file}" NAME_WE)
    set(qaic "${HEXAGON_FUN_SDK_ROOT}/ipc/fastrpc/qaic/bin/qaic")
    set(header "${CMAKE_CURRENT_BINARY_DIR}/${name}.h")
    set(stub "${CMAKE_CURRENT_BINARY_DIR}/${name}_stub.c")
    set(skel "${CMAKE_CURRENT_BINARY_DIR}/${name}_skel.c")

    # The compiler leaves unchanged outputs alone: the stamp tells the build that it has run.
    set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${name}.idl.stamp")
    add_custom_command(
        OUTPUT "${stamp}"
        BYPRODUCTS "${header}" "${stub}" "${skel}"
        COMMAND "${qaic}" -mdll
            -I "${HEXAGON_FUN_SDK_ROOT}/incs" -I "${HEXAGON_FUN_SDK_ROOT}/incs/stddef"
            -o "${CMAKE_CURRENT_BINARY_DIR}" "${idl}"
        COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
        DEPENDS "${idl}" "${qaic}"
        COMMENT "qaic ${name}.idl"
        VERBATIM)
    set_source_files_properties("${header}" "${stub}" "${skel}" PROPERTIES GENERATED TRUE)
    if (NOT TARGET ${target}_${name}_idl)
        add_custom_target(${target}_${name}_idl DEPENDS "${stamp}")
    endif()
    add_dependencies(${target} ${target}_${name}_idl)
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
