# Test programs of GoogleTest. The headers that all of them parse are compiled once.
include(GoogleTest)
find_package(GTest REQUIRED)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/TestHeaders.cpp CONTENT "// The precompiled headers' own source.\n")
add_library(weir_test_headers OBJECT ${CMAKE_BINARY_DIR}/TestHeaders.cpp)
target_link_libraries(weir_test_headers PRIVATE GTest::gtest)
target_compile_options(weir_test_headers PRIVATE -O0)
target_precompile_headers(weir_test_headers PRIVATE
  <gtest/gtest.h> <filesystem> <fstream> <functional> <map> <optional> <set> <sstream> <string> <vector>)

if(WEIR_COMPILER)
  add_library(weir_mlir_test_headers OBJECT ${CMAKE_BINARY_DIR}/TestHeaders.cpp)
  target_include_directories(weir_mlir_test_headers SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(weir_mlir_test_headers PRIVATE -fno-rtti -O0)
  target_link_libraries(weir_mlir_test_headers PRIVATE GTest::gtest)
  target_precompile_headers(weir_mlir_test_headers PRIVATE
    <gtest/gtest.h> <ir/weir/WeirDialect.h>
    <mlir/IR/PatternMatch.h> <mlir/Parser/Parser.h> <mlir/Pass/PassManager.h>)
  add_dependencies(weir_mlir_test_headers weir_ir_weir_gen)
endif()

# Programs whose outcome could depend on the CPU level: they compile for `cpu` and run the code, or call oneDNN.
# They have CTest's label `cpu-level`, and .ci/run runs them again for x86-64-v3 (docs/testing.md). planner-test names the level of
# every device that it compiles for.
set(WEIR_CPU_LEVEL_TESTS codegen-cpu-test codegen-cuda-test emulated-cuda-test fusion-test gradient-test prelude-test
    runtime-core-test runtime-cpu-test support-test verify-test weir-smith-test)

# weir_test(NAME SOURCES... [MLIR] [OPTIMIZED] [LINK targets...] [DEPENDS targets...] [DEFINITIONS name=value...]): a program
# whose tests CTest runs one by one. MLIR is for sources that include MLIR's headers: they are compiled without RTTI. Most tests run
# for less time than the optimiser would take, so they are compiled with -O0; OPTIMIZED is for those that compute much themselves.
function(weir_test name)
  cmake_parse_arguments(ARG "MLIR;OPTIMIZED" "" "LINK;DEPENDS;DEFINITIONS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set(headers weir_test_headers)
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_compile_options(${name} PRIVATE -fno-rtti)
    set(headers weir_mlir_test_headers)
  endif()
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE -O0)
    target_precompile_headers(${name} REUSE_FROM ${headers})
  endif()
  # As the precompiled headers are; CMake would give a program -fPIE.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # CTest lists the tests before it first runs them: sanitizers need the preset's environment.
  set(labels "")
  if(name IN_LIST WEIR_CPU_LEVEL_TESTS)
    set(labels PROPERTIES LABELS cpu-level)
  endif()
  # Parameters by their number or the name that a test gives them: as printed, some have addresses in them.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 ${labels})
endfunction()
