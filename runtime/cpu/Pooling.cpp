//===- Pooling.cpp - Max pooling as tiles of planes -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Pooling.h"
#include "runtime/cpu/Library.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace weir::cpu {

using dnnl::memory;
using Tag = memory::format_tag;

namespace {

/// A tile of some number of planes: the primitive, and the layouts of input and output on both
/// sides of the reorders.
struct Tile {
  std::array<memory::desc, 2> plain, blocked;
  memory::desc scratchpad;
  dnnl::primitive pool, pack, unpack;
  std::string implementation;
};

/// Offsets of a worker's scratch.
struct Places {
  std::array<size_t, 2> blocked;
  size_t library;
};

struct Binding {
  std::array<memory, 2> plain, blocked;
  memory scratch;
  Call pool, pack, unpack;
};

} // namespace

static Tile makeTile(const spec::Pooling &s, int64_t planes) try {
  const bool isNarrow = dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx2;
  const memory::dims shapes[] = {{1, planes, s.size[0], s.size[1]},
                                 {1, planes, s.outSize(0), s.outSize(1)}};
  Tile tile;
  for (int i = 0; i < 2; ++i) {
    tile.plain[i] = memory::desc(shapes[i], memory::data_type::f32, Tag::nchw);
    tile.blocked[i] =
        memory::desc(shapes[i], memory::data_type::f32, isNarrow ? Tag::nChw8c : Tag::nChw16c);
  }
  const memory::dims none = {0, 0};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  requireMemoryForPrimitive();
  dnnl::pooling_forward::primitive_desc pooling({dnnl::prop_kind::forward_inference,
                                                 dnnl::algorithm::pooling_max, tile.blocked[0],
                                                 tile.blocked[1], s.strides, s.window, none, none},
                                                attributes, engine());
  tile.scratchpad = pooling.scratchpad_desc();
  tile.implementation = pooling.impl_info_str();
  tile.pool = dnnl::pooling_forward(pooling);
  auto reorder = [](const memory::desc &from, const memory::desc &to) {
    return dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  };
  tile.pack = reorder(tile.plain[0], tile.blocked[0]);
  tile.unpack = reorder(tile.blocked[1], tile.plain[1]);
  return tile;
} catch (const dnnl::error &error) {
  libraryFailure("a " + s.describe(), error);
}

static size_t place(const Tile &tile, Places &places) {
  ScratchLayout layout;
  for (int i = 0; i < 2; ++i)
    places.blocked[i] = layout.take(tile.blocked[i].get_size());
  places.library = layout.take(tile.scratchpad.get_size());
  return layout.total;
}

/// The sizes of tiles that occur: full ones, and the remainder or 0.
static std::array<int64_t, 2> tileSizes(const spec::Pooling &s) {
  return {s.tilePlanes, s.planes % s.tilePlanes};
}

/// Whether all are finite or +inf.
static bool isServed(const float *values, int64_t count) {
  int other = 0;
  for (int64_t i = 0; i < count; ++i)
    other |= !(values[i] >= std::numeric_limits<float>::lowest());
  return !other;
}

static void poolPlane(const spec::Pooling &s, const float *input, float *output) {
  for (int64_t y = 0; y < s.outSize(0); ++y)
    for (int64_t x = 0; x < s.outSize(1); ++x) {
      const float *window = input + y * s.strides[0] * s.size[1] + x * s.strides[1];
      float largest = *window;
      for (int64_t i = 0; i < s.window[0]; ++i)
        for (int64_t j = 0; j < s.window[1]; ++j) {
          float value = window[i * s.size[1] + j];
          if (value > largest || (std::isnan(value) && !std::isnan(largest)))
            largest = value;
        }
      *output++ = largest;
    }
}

struct Pooling::Impl {
  spec::Pooling spec;
  size_t scratch = 0;
  std::array<Tile, 2> tiles;
  std::array<Places, 2> places;

  struct Worker {
    dnnl::stream stream{engine()};
    std::array<Binding, 2> bindings;
  };
  std::vector<Worker> workers;
};

Pooling::Pooling(const spec::Pooling &spec, int workers) : impl(new Impl) {
  impl->spec = spec;
  OneThread one;
  impl->workers.resize(workers);
  for (int size = 0; size < 2; ++size) {
    int64_t planes = tileSizes(spec)[size];
    if (!planes)
      continue;
    Tile &tile = impl->tiles[size] = makeTile(spec, planes);
    impl->scratch = std::max(impl->scratch, place(tile, impl->places[size]));
    for (Impl::Worker &worker : impl->workers) {
      Binding &binding = worker.bindings[size];
      auto &[input, output] = binding.plain;
      auto &[packed, pooled] = binding.blocked;
      input = unbound(tile.plain[0]), output = unbound(tile.plain[1]);
      packed = unbound(tile.blocked[0]), pooled = unbound(tile.blocked[1]);
      binding.scratch = unbound(tile.scratchpad);
      binding.pack = Call(tile.pack, {{DNNL_ARG_FROM, input}, {DNNL_ARG_TO, packed}});
      binding.pool = Call(
          tile.pool,
          {{DNNL_ARG_SRC, packed}, {DNNL_ARG_DST, pooled}, {DNNL_ARG_SCRATCHPAD, binding.scratch}});
      binding.unpack = Call(tile.unpack, {{DNNL_ARG_FROM, pooled}, {DNNL_ARG_TO, output}});
    }
  }
}

Pooling::~Pooling() = default;

int64_t Pooling::tasks() const { return impl->spec.tiles(); }
size_t Pooling::scratch() const { return impl->scratch; }
const char *Pooling::implementation() const { return impl->tiles[0].implementation.c_str(); }

void Pooling::run(int64_t lo, int64_t hi, int worker, const Operands &operands,
                  std::byte *scratch) {
  const spec::Pooling &s = impl->spec;
  Impl::Worker &state = impl->workers[worker];
  for (int64_t task = lo; task < hi; ++task) {
    int64_t first = task * s.tilePlanes, planes = std::min(s.tilePlanes, s.planes - first);
    const float *input = operands.input + first * s.inputElements();
    float *output = operands.output + first * s.outputElements();
    if (!isServed(input, planes * s.inputElements())) {
      for (int64_t plane = 0; plane < planes; ++plane)
        poolPlane(s, input + plane * s.inputElements(), output + plane * s.outputElements());
      continue;
    }
    int size = planes < s.tilePlanes;
    Binding &binding = state.bindings[size];
    const Places &places = impl->places[size];
    bind(binding.plain[0], input);
    bind(binding.plain[1], output);
    for (int i = 0; i < 2; ++i)
      bind(binding.blocked[i], scratch + places.blocked[i]);
    bind(binding.scratch, scratch + places.library);
    for (const Call *call : {&binding.pack, &binding.pool, &binding.unpack})
      call->run(state.stream);
  }
}

} // namespace weir::cpu
