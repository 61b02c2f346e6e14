# Adds the matrix unit to the DSP process.
target_sources(hexsim-dsp PRIVATE ${CMAKE_CURRENT_LIST_DIR}/hmx.c)
target_include_directories(hexsim-dsp PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(hexsim-dsp PRIVATE m)
