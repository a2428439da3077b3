# LLVM and MLIR 22 as shared libraries, and the helpers that declare a compiler library.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# For tablegen, which takes the folder's include directories; the folders of the runtime alone come before and stay without.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# Most of an MLIR file's time goes to MLIR's headers: they are compiled once, and reused by every library.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/MLIRHeaders.cpp CONTENT "// The precompiled header's own source.\n")
add_library(weir_mlir_headers OBJECT ${CMAKE_BINARY_DIR}/MLIRHeaders.cpp)
target_compile_options(weir_mlir_headers PRIVATE -fno-rtti)
target_precompile_headers(weir_mlir_headers PRIVATE
  <ir/weir/WeirDialect.h>
  <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h> <mlir/Transforms/GreedyPatternRewriteDriver.h>)

# weir_mlir_library(NAME SOURCES... [DEPENDS targets] [LINK targets]): a static library of MLIR code. MLIR is compiled
# without RTTI, so what derives from its classes must be too.
function(weir_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE -fno-rtti)
  target_precompile_headers(${name} REUSE_FROM weir_mlir_headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# weir_tablegen(TARGET TD OUTPUT FLAGS...): one generated file beside the mirror of its .td in the build tree.
macro(weir_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN} -I${CMAKE_SOURCE_DIR})
endmacro()
