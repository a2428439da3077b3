//===- Product.cpp - Matrix products as tiles -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Product.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/Library.h"
#include "runtime/cpu/PackedProduct.h"
#include "runtime/cpu/ThreadPool.h"
#include "support/Error.h"
#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <xmmintrin.h>

namespace weir::cpu {

using dnnl::memory;
using Dims = memory::dims;

namespace {

/// One size of tile: full, or the remainder in some dimensions.
struct Tile {
  dnnl::matmul::primitive_desc desc;
  dnnl::matmul primitive;
};

/// What one worker needs to run one size of tile.
struct Binding {
  memory a, b, c, bias, scratch;
  Call call;
};

} // namespace

// A dimension of size 1 gets the stride a dense tensor would have: the library tells layouts by
// their strides.
static memory::desc describe(Element element, Dims dims, Dims strides) {
  for (int i = dims.size() - 1; i >= 0; --i)
    if (dims[i] == 1) {
      strides[i] = 1;
      for (size_t j = i + 1; j < dims.size(); ++j)
        strides[i] = std::max(strides[i], dims[j] * strides[j]);
    }
  return memory::desc(dims, dataType(element), strides);
}

/// The first implementation there is. oneDNN 2.6's AMX products end in SIGILL at some sizes where
/// little is left of what is summed and of the columns (65 x 63 by 63 x 26): they take none of
/// these.
static dnnl::matmul::primitive_desc choose(const dnnl::matmul::desc &desc,
                                           const dnnl::primitive_attr &attributes, int64_t n,
                                           int64_t k) {
  dnnl::matmul::primitive_desc chosen(desc, attributes, engine());
  constexpr int64_t columns = 16, depth = 32; // of a tile of bf16
  bool remains = n % columns && k % depth;
  auto isAmx = [&] {
    return std::string_view(chosen.impl_info_str()).find("amx") != std::string_view::npos;
  };
  while (remains && isAmx() && chosen.next_impl()) {
  }
  return chosen;
}

static dnnl::matmul::primitive_desc describeTile(const spec::Product &s, int64_t batch, int64_t m,
                                                 int64_t n) try {
  // Two dimensions where the batch is one: the library's dispatch is quicker, and its choice of
  // kernels larger.
  auto cut = [&](Dims dims) { return batch == 1 ? Dims(dims.begin() + 1, dims.end()) : dims; };
  auto tensor = [&](Element element, Dims dims, Dims strides) {
    return describe(element, cut(dims), cut(strides));
  };
  memory::desc a = tensor(s.factors, {s.aBatch ? batch : 1, m, s.k}, {s.aBatch, s.aRow, s.aColumn});
  memory::desc b = tensor(s.factors, {s.bBatch ? batch : 1, s.k, n}, {s.bBatch, s.bRow, s.bColumn});
  memory::desc c = tensor(s.result, {batch, m, n}, {s.cBatch, s.cRow, 1});

  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!s.bias)
    return choose(dnnl::matmul::desc(a, b, c), attributes, n, s.k);
  memory::desc bias = tensor(s.added, {1, 1, n}, {n, n, 1});
  return choose(dnnl::matmul::desc(a, b, bias, c), attributes, n, s.k);
} catch (const dnnl::error &error) {
  libraryFailure("a product of " + std::to_string(batch) + " x " + std::to_string(m) + " x " +
                     std::to_string(n) + " x " + std::to_string(s.k),
                 error);
}

static int64_t tiles(int64_t size, int64_t tile) { return (size - 1) / tile + 1; }

/// Calls `make(index, batch, m, n)` for each size of tile that occurs; bits 0, 1 and 2 of the index
/// are set where the batch, m and n are remainders.
template <typename Make> static void forEachTile(const spec::Product &s, Make &&make) {
  auto size = [](int64_t dim, int64_t tile, bool remainder) {
    return remainder ? dim % tile : std::min(dim, tile);
  };
  for (int index = 0; index < 8; ++index) {
    int64_t batch = size(s.batch, s.tileBatch, index & 1);
    int64_t m = size(s.m, s.tileM, index & 2), n = size(s.n, s.tileN, index & 4);
    if (batch && m && n)
      make(index, batch, m, n);
  }
}

struct Product::Impl {
  spec::Product spec;
  std::optional<PackedProduct> packed; ///< instead of all below
  int64_t tilesM, tilesN, tilesBatch;
  size_t scratch = 0;
  std::array<Tile, 8> tiles;

  struct Worker {
    dnnl::stream stream{engine()};
    std::array<Binding, 8> bindings;
  };
  std::vector<Worker> workers;
};

Product::Product(const spec::Product &spec, int workers) try : impl(new Impl) {
  if (spec.rounding != spec::FactorRounding::none)
    throw Failure(Exit::model, "oneDNN rounds no factors, and the artifact asks for a " +
                                   spec.describe() + ": compile the model again");
  if (spec.isScaled())
    throw Failure(Exit::model, "oneDNN scales no sums, and the artifact asks for a " +
                                   spec.describe() + ": compile the model again");
  impl->spec = spec;
  if (spec.isPacked()) {
    impl->packed.emplace(spec);
    impl->scratch = spec.packedScratch();
    return;
  }
  OneThread one;
  impl->tilesBatch = cpu::tiles(spec.batch, spec.tileBatch);
  impl->tilesM = cpu::tiles(spec.m, spec.tileM);
  impl->tilesN = cpu::tiles(spec.n, spec.tileN);
  impl->workers.resize(workers);
  forEachTile(spec, [&](int index, int64_t batch, int64_t m, int64_t n) {
    Tile &tile = impl->tiles[index];
    tile.desc = describeTile(spec, batch, m, n);
    requireMemoryForPrimitive();
    tile.primitive = dnnl::matmul(tile.desc);
    impl->scratch = std::max(impl->scratch, tile.desc.scratchpad_desc().get_size());
    for (Impl::Worker &worker : impl->workers) {
      Binding &binding = worker.bindings[index];
      binding.a = unbound(tile.desc.src_desc());
      binding.b = unbound(tile.desc.weights_desc());
      binding.c = unbound(tile.desc.dst_desc());
      binding.scratch = unbound(tile.desc.scratchpad_desc());
      if (spec.bias) {
        binding.bias = unbound(tile.desc.bias_desc());
        binding.call = Call(tile.primitive, {{DNNL_ARG_SRC, binding.a},
                                             {DNNL_ARG_WEIGHTS, binding.b},
                                             {DNNL_ARG_DST, binding.c},
                                             {DNNL_ARG_SCRATCHPAD, binding.scratch},
                                             {DNNL_ARG_BIAS, binding.bias}});
      } else {
        binding.call = Call(tile.primitive, {{DNNL_ARG_SRC, binding.a},
                                             {DNNL_ARG_WEIGHTS, binding.b},
                                             {DNNL_ARG_DST, binding.c},
                                             {DNNL_ARG_SCRATCHPAD, binding.scratch}});
      }
    }
  });
} catch (const dnnl::error &error) {
  libraryFailure("a product", error);
}

Product::~Product() = default;

void compileLibrary() {
  static std::once_flag once;
  std::call_once(once, [] {
    ComputeThread caller;
    constexpr int64_t n = 16;
    spec::Product spec;
    spec.m = spec.n = spec.k = spec.tileM = spec.tileN = n;
    spec.tileBatch = 1;
    spec.aBatch = spec.bBatch = spec.cBatch = n * n;
    spec.aRow = spec.bRow = spec.cRow = n;
    spec.aColumn = spec.bColumn = 1;
    Product product(spec, 1);
    constexpr size_t matrix = n * n * sizeof(float);
    Arena arena(3 * matrix + product.scratch(), "the first product");
    std::byte *a = arena.data(), *b = a + matrix, *c = b + matrix;
    requireMemoryForPrimitive();
    product.run(0, product.tasks(), 0, {a, b, c, {}}, c + matrix);
  });
}

int64_t Product::tasks() const { return impl->spec.tiles(); }
size_t Product::scratch() const { return impl->scratch; }
const char *Product::implementation() const {
  return impl->packed ? "weir:packed" : impl->tiles[0].desc.impl_info_str();
}

static PackedProduct::Operands packedOperands(const spec::Product &spec,
                                              const Product::Operands &operands) {
  return {static_cast<const float *>(operands.a), static_cast<const float *>(operands.b),
          static_cast<float *>(operands.c),
          spec.bias ? static_cast<const float *>(operands.more[0]) : nullptr,
          static_cast<float *>(operands.more[spec.bias ? 1 : 0])};
}

int64_t Product::packTasks() const { return impl->packed ? impl->packed->packTasks() : 0; }

void Product::pack(int64_t lo, int64_t hi, const Operands &operands) const {
  impl->packed->pack(lo, hi, packedOperands(impl->spec, operands));
}

/// max(0, x) of a row, NaN where x is: the library's own makes it 0, and what has gone wrong would
/// not show.
static void relu(float *row, int64_t size) {
  const __m128 zero = _mm_setzero_ps();
  int64_t i = 0;
  for (; i + 4 <= size; i += 4)
    _mm_storeu_ps(row + i, _mm_max_ps(zero, _mm_loadu_ps(row + i)));
  for (; i < size; ++i)
    row[i] = 0 > row[i] ? 0 : row[i];
}

/// The same of bf16, whose bits are those of a small integer of the same sign.
static void relu(uint16_t *row, int64_t size) {
  constexpr uint16_t infinity = 0x7f80, sign = 0x8000;
  for (int64_t i = 0; i < size; ++i)
    row[i] = row[i] > sign && row[i] <= (sign | infinity) ? 0 : row[i];
}

/// `elements` behind `tensor`, bytes with a size of `element`'s.
static std::byte *at(void *tensor, Element element, int64_t elements) {
  return static_cast<std::byte *>(tensor) + elements * int64_t(sizeOf(element));
}
static const std::byte *at(const void *tensor, Element element, int64_t elements) {
  return static_cast<const std::byte *>(tensor) + elements * int64_t(sizeOf(element));
}

void Product::run(int64_t lo, int64_t hi, int worker, const Operands &operands,
                  std::byte *scratch) {
  const spec::Product &s = impl->spec;
  if (impl->packed)
    return impl->packed->run(lo, hi, packedOperands(s, operands), scratch);
  Impl::Worker &state = impl->workers[worker];
  for (int64_t task = lo; task < hi; ++task) {
    int64_t n = task % impl->tilesN * s.tileN;
    int64_t m = task / impl->tilesN % impl->tilesM * s.tileM;
    int64_t batch = task / impl->tilesN / impl->tilesM * s.tileBatch;
    int index =
        (s.batch - batch < s.tileBatch) | (s.m - m < s.tileM) << 1 | (s.n - n < s.tileN) << 2;
    Binding &binding = state.bindings[index];
    bind(binding.a, at(operands.a, s.factors, batch * s.aBatch + m * s.aRow));
    bind(binding.b, at(operands.b, s.factors, batch * s.bBatch + n * s.bColumn));
    bind(binding.c, at(operands.c, s.result, batch * s.cBatch + m * s.cRow + n));
    bind(binding.scratch, scratch);
    if (s.bias)
      bind(binding.bias, at(operands.more[0], s.added, n));
    binding.call.run(state.stream);
    if (!s.relu)
      continue;
    for (int64_t i = batch; i < std::min(batch + s.tileBatch, s.batch); ++i)
      for (int64_t row = m; row < std::min(m + s.tileM, s.m); ++row) {
        std::byte *first = at(operands.c, s.result, i * s.cBatch + row * s.cRow + n);
        int64_t columns = std::min(s.tileN, s.n - n);
        if (s.result == Element::f32)
          relu(reinterpret_cast<float *>(first), columns);
        else
          relu(reinterpret_cast<uint16_t *>(first), columns);
      }
  }
}

} // namespace weir::cpu
