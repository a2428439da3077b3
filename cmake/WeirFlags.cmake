# Flags for every target. Includes are written from the repository's root.
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
# A function that nobody calls may have lost its calls to another file of its batch (docs/internals/building.md).
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror=unused-function)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Assertions state our own invariants and stay on in release builds.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
# Compilers differ in where they contract a product and a sum into one rounding; here none does.
add_compile_options(-ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_link_options(-fuse-ld=lld)
  # Without its own macro GCC's library does not warn that std::stable_sort calls what it deprecates. Fields that an
  # initializer does not name have their defaults.
  add_compile_options(-U__DEPRECATED -Wno-missing-designated-field-initializers)
  # ccache takes a precompiled header by its content.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
find_program(CCACHE ccache)
# Paths of a checkout count relative to its build tree, so that all build trees of all checkouts share what is cached.
if(CCACHE)
  set(cached ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
             CCACHE_SLOPPINESS=pch_defines,time_macros) # as precompiled headers need
  set(CMAKE_CXX_COMPILER_LAUNCHER ${cached} ${CCACHE})
endif()
