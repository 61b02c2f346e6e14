# hexagon_arch.cmake: HEXAGON_ARCH (v73, v75, v79, v81) from DSP_VERSION, which a build passes.

if (NOT DSP_VERSION)
    set(DSP_VERSION v73)
endif()
string(REGEX MATCH "^v[0-9]+" HEXAGON_ARCH "${DSP_VERSION}")
set(HEXAGON_SIMULATED_ARCHS v73 v75 v79 v81)
if (NOT HEXAGON_ARCH IN_LIST HEXAGON_SIMULATED_ARCHS)
    message(FATAL_ERROR "DSP_VERSION is ${DSP_VERSION}; this SDK has ${HEXAGON_SIMULATED_ARCHS}")
endif()
set(V_ARCH ${HEXAGON_ARCH})

# Nested configurations (compiler checks) start anew and must see the same architecture.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DSP_VERSION)
