//===- OneDnn.cpp - oneDNN, opened when a program needs it ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dnnl.hpp calls of the library is defined here, and goes to the library that is opened at
// the first call: a program that runs GPUs' artifacts alone starts where there is no oneDNN.
// A function that another part of dnnl.hpp calls is missed by the linker, and belongs here.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/OneDnn.h"
#include "support/Error.h"
#include <dlfcn.h>
#include <dnnl.h>
#include <string>

namespace weir::cpu {

/// Why the library could not be opened. What the dynamic linker says of an address space that is
/// full does not have the word memory in it.
static Failure cannotOpen(const std::string &reason) {
  std::string begin =
      "oneDNN, which multiplies matrices on CPUs, cannot be opened (" + reason + ")";
  for (const char *scarce : {"failed to map segment", "cannot map zero-fill", "Cannot allocate"})
    if (reason.find(scarce) != std::string::npos)
      return Failure(Exit::device, begin + ": there is not enough memory for it; ulimit -v and the "
                                           "container's limit say how much there may be");
  return Failure(Exit::device, begin + ": install Debian's package libdnnl2 (oneDNN 2)");
}

static void *library() {
  static void *opened = [] {
    void *opened = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!opened)
      throw cannotOpen(dlerror());
    return opened;
  }();
  return opened;
}

/// Of the library, or of what it is linked with.
template <class Function> static Function *symbol(const char *name) {
  void *found = dlsym(library(), name);
  if (!found)
    throw Failure(Exit::device, std::string("the oneDNN that is installed has no ") + name +
                                    ": install oneDNN 2, built with OpenMP (Debian's libdnnl2)");
  return reinterpret_cast<Function *>(found);
}

int openMPTeamSize() {
  static auto *const get = symbol<int()>("omp_get_max_threads");
  return get();
}

void setOpenMPTeamSize(int threads) {
  static auto *const set = symbol<void(int)>("omp_set_num_threads");
  set(threads);
}

} // namespace weir::cpu

#define WEIR_ONEDNN(result, name, parameters, arguments)                                           \
  extern "C" result name parameters {                                                              \
    static auto *const function = weir::cpu::symbol<decltype(name)>(#name);                        \
    return function arguments;                                                                     \
  }

// The processor and its memory.
WEIR_ONEDNN(dnnl_status_t, dnnl_set_max_cpu_isa, (dnnl_cpu_isa_t isa), (isa))
WEIR_ONEDNN(dnnl_cpu_isa_t, dnnl_get_effective_cpu_isa, (), ())
WEIR_ONEDNN(dnnl_status_t, dnnl_engine_create,
            (dnnl_engine_t * engine, dnnl_engine_kind_t kind, size_t index), (engine, kind, index))
WEIR_ONEDNN(dnnl_status_t, dnnl_engine_destroy, (dnnl_engine_t engine), (engine))
WEIR_ONEDNN(dnnl_status_t, dnnl_stream_create,
            (dnnl_stream_t * stream, dnnl_engine_t engine, unsigned flags), (stream, engine, flags))
WEIR_ONEDNN(dnnl_status_t, dnnl_stream_destroy, (dnnl_stream_t stream), (stream))
WEIR_ONEDNN(dnnl_status_t, dnnl_memory_create,
            (dnnl_memory_t * memory, const dnnl_memory_desc_t *memory_desc, dnnl_engine_t engine,
             void *handle),
            (memory, memory_desc, engine, handle))
WEIR_ONEDNN(dnnl_status_t, dnnl_memory_destroy, (dnnl_memory_t memory), (memory))
WEIR_ONEDNN(dnnl_status_t, dnnl_memory_set_data_handle, (dnnl_memory_t memory, void *handle),
            (memory, handle))
WEIR_ONEDNN(dnnl_status_t, dnnl_memory_desc_init_by_strides,
            (dnnl_memory_desc_t * memory_desc, int ndims, const dnnl_dims_t dims,
             dnnl_data_type_t data_type, const dnnl_dims_t strides),
            (memory_desc, ndims, dims, data_type, strides))
WEIR_ONEDNN(dnnl_status_t, dnnl_memory_desc_init_by_tag,
            (dnnl_memory_desc_t * memory_desc, int ndims, const dnnl_dims_t dims,
             dnnl_data_type_t data_type, dnnl_format_tag_t tag),
            (memory_desc, ndims, dims, data_type, tag))
WEIR_ONEDNN(int, dnnl_memory_desc_equal,
            (const dnnl_memory_desc_t *lhs, const dnnl_memory_desc_t *rhs), (lhs, rhs))
WEIR_ONEDNN(size_t, dnnl_memory_desc_get_size, (const dnnl_memory_desc_t *memory_desc),
            (memory_desc))

// What is computed.
WEIR_ONEDNN(dnnl_status_t, dnnl_matmul_desc_init,
            (dnnl_matmul_desc_t * matmul_desc, const dnnl_memory_desc_t *src_desc,
             const dnnl_memory_desc_t *weights_desc, const dnnl_memory_desc_t *bias_desc,
             const dnnl_memory_desc_t *dst_desc),
            (matmul_desc, src_desc, weights_desc, bias_desc, dst_desc))
WEIR_ONEDNN(dnnl_status_t, dnnl_dilated_convolution_forward_desc_init,
            (dnnl_convolution_desc_t * conv_desc, dnnl_prop_kind_t prop_kind,
             dnnl_alg_kind_t alg_kind, const dnnl_memory_desc_t *src_desc,
             const dnnl_memory_desc_t *weights_desc, const dnnl_memory_desc_t *bias_desc,
             const dnnl_memory_desc_t *dst_desc, const dnnl_dims_t strides,
             const dnnl_dims_t dilates, const dnnl_dims_t padding_l, const dnnl_dims_t padding_r),
            (conv_desc, prop_kind, alg_kind, src_desc, weights_desc, bias_desc, dst_desc, strides,
             dilates, padding_l, padding_r))
WEIR_ONEDNN(dnnl_status_t, dnnl_dilated_convolution_backward_data_desc_init,
            (dnnl_convolution_desc_t * conv_desc, dnnl_alg_kind_t alg_kind,
             const dnnl_memory_desc_t *diff_src_desc, const dnnl_memory_desc_t *weights_desc,
             const dnnl_memory_desc_t *diff_dst_desc, const dnnl_dims_t strides,
             const dnnl_dims_t dilates, const dnnl_dims_t padding_l, const dnnl_dims_t padding_r),
            (conv_desc, alg_kind, diff_src_desc, weights_desc, diff_dst_desc, strides, dilates,
             padding_l, padding_r))
WEIR_ONEDNN(dnnl_status_t, dnnl_dilated_convolution_backward_weights_desc_init,
            (dnnl_convolution_desc_t * conv_desc, dnnl_alg_kind_t alg_kind,
             const dnnl_memory_desc_t *src_desc, const dnnl_memory_desc_t *diff_weights_desc,
             const dnnl_memory_desc_t *diff_bias_desc, const dnnl_memory_desc_t *diff_dst_desc,
             const dnnl_dims_t strides, const dnnl_dims_t dilates, const dnnl_dims_t padding_l,
             const dnnl_dims_t padding_r),
            (conv_desc, alg_kind, src_desc, diff_weights_desc, diff_bias_desc, diff_dst_desc,
             strides, dilates, padding_l, padding_r))
WEIR_ONEDNN(dnnl_status_t, dnnl_pooling_forward_desc_init,
            (dnnl_pooling_desc_t * pool_desc, dnnl_prop_kind_t prop_kind, dnnl_alg_kind_t alg_kind,
             const dnnl_memory_desc_t *src_desc, const dnnl_memory_desc_t *dst_desc,
             const dnnl_dims_t strides, const dnnl_dims_t kernel, const dnnl_dims_t padding_l,
             const dnnl_dims_t padding_r),
            (pool_desc, prop_kind, alg_kind, src_desc, dst_desc, strides, kernel, padding_l,
             padding_r))
WEIR_ONEDNN(dnnl_status_t, dnnl_reorder_primitive_desc_create,
            (dnnl_primitive_desc_t * reorder_primitive_desc, const dnnl_memory_desc_t *src_desc,
             dnnl_engine_t src_engine, const dnnl_memory_desc_t *dst_desc, dnnl_engine_t dst_engine,
             const_dnnl_primitive_attr_t attr),
            (reorder_primitive_desc, src_desc, src_engine, dst_desc, dst_engine, attr))

// Primitives.
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_attr_create, (dnnl_primitive_attr_t * attr), (attr))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_attr_destroy, (dnnl_primitive_attr_t attr), (attr))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_attr_set_scratchpad_mode,
            (dnnl_primitive_attr_t attr, dnnl_scratchpad_mode_t mode), (attr, mode))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_desc_iterator_create,
            (dnnl_primitive_desc_iterator_t * iterator, const_dnnl_op_desc_t op_desc,
             const_dnnl_primitive_attr_t attr, dnnl_engine_t engine,
             const_dnnl_primitive_desc_t hint_forward_primitive_desc),
            (iterator, op_desc, attr, engine, hint_forward_primitive_desc))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_desc_iterator_next,
            (dnnl_primitive_desc_iterator_t iterator), (iterator))
WEIR_ONEDNN(dnnl_primitive_desc_t, dnnl_primitive_desc_iterator_fetch,
            (const_dnnl_primitive_desc_iterator_t iterator), (iterator))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_desc_iterator_destroy,
            (dnnl_primitive_desc_iterator_t iterator), (iterator))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_desc_query,
            (const_dnnl_primitive_desc_t primitive_desc, dnnl_query_t what, int index,
             void *result),
            (primitive_desc, what, index, result))
WEIR_ONEDNN(const dnnl_memory_desc_t *, dnnl_primitive_desc_query_md,
            (const_dnnl_primitive_desc_t primitive_desc, dnnl_query_t what, int index),
            (primitive_desc, what, index))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_desc_destroy, (dnnl_primitive_desc_t primitive_desc),
            (primitive_desc))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_create,
            (dnnl_primitive_t * primitive, const_dnnl_primitive_desc_t primitive_desc),
            (primitive, primitive_desc))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_execute,
            (const_dnnl_primitive_t primitive, dnnl_stream_t stream, int nargs,
             const dnnl_exec_arg_t *args),
            (primitive, stream, nargs, args))
WEIR_ONEDNN(dnnl_status_t, dnnl_primitive_destroy, (dnnl_primitive_t primitive), (primitive))

#undef WEIR_ONEDNN
