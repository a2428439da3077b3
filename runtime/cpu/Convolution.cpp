//===- Convolution.cpp - Convolutions as chunks of images -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Convolution.h"
#include "runtime/cpu/Library.h"
#include <algorithm>
#include <array>
#include <string>

namespace weir::cpu {

using dnnl::memory;
using Tag = memory::format_tag;
using Kind = spec::ConvolutionKind;

// Elements of a weight gradient that one task adds up.
static constexpr int64_t sumBlock = 4096;

namespace {

/// input, weight, output, in this order.
using Descs = std::array<memory::desc, 3>;
constexpr int inputAt = 0, weightAt = 1, outputAt = 2;

/// A chunk of some number of images: the primitive, and the layouts on both sides of the reorders.
struct Chunk {
  Descs plain, blocked;
  memory::desc scratchpad;
  dnnl::primitive primitive;
  std::array<dnnl::primitive, 3> reorders; // empty where both layouts are the same
  std::string implementation;
};

/// Offsets of a worker's scratch.
struct Places {
  std::array<size_t, 3> blocked;
  size_t library;
};

struct Binding {
  std::array<memory, 3> plain, blocked;
  memory scratch;
  Call convolve;
  std::array<Call, 3> reorders;
};

} // namespace

/// The kinds that write the input, the weight and the output.
constexpr std::array<Kind, 3> writers = {Kind::backwardInput, Kind::backwardWeight, Kind::forward};

/// Which tensor the primitive writes; the others it reads.
static int written(Kind kind) {
  return static_cast<int>(std::find(writers.begin(), writers.end(), kind) - writers.begin());
}

static std::array<int, 3> arguments(Kind kind) {
  if (kind == Kind::forward)
    return {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  if (kind == Kind::backwardInput)
    return {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
  return {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
}

static memory::dims join(std::initializer_list<int64_t> first, const std::vector<int64_t> &rest) {
  memory::dims dims(first);
  dims.insert(dims.end(), rest.begin(), rest.end());
  return dims;
}

/// Row-major.
static memory::desc plainDesc(Element element, const memory::dims &dims) {
  memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * dims[i + 1];
  return memory::desc(dims, dataType(element), strides);
}

static Chunk makeChunk(const spec::Convolution &s, int64_t images) try {
  std::array<Element, 3> elements;
  std::transform(writers.begin(), writers.end(), elements.begin(),
                 [&](Kind writer) { return s.elementOf(writer); });
  std::array<memory::dims, 3> dims = {
      join({images, s.channels}, s.size),
      s.groups == 1 ? join({s.filters, s.channels}, s.window)
                    : join({s.groups, s.filters / s.groups, s.channels / s.groups}, s.window),
      join({images, s.filters}, s.outSize())};
  // The library's own layouts are the fastest inside. But the gradient of an input with a few
  // channels wastes most lanes of them: products on the plain layout are six times as fast.
  bool plainInside = s.computes == Kind::backwardInput && s.channels / s.groups <= 4;
  auto plain = [&](int i) { return plainDesc(elements[i], dims[i]); };
  auto inside = [&](int i) {
    return plainInside && i != weightAt ? plain(i)
                                        : memory::desc(dims[i], dataType(elements[i]), Tag::any);
  };
  memory::desc input = inside(inputAt), weight = inside(weightAt), output = inside(outputAt);
  memory::dims strides = s.strides, before = s.padding, after, gaps;
  // What the strides do not reach is not padding.
  for (size_t i = 0; i < s.size.size(); ++i) {
    gaps.push_back(s.dilation[i] - 1);
    after.push_back((s.outSize()[i] - 1) * s.strides[i] + s.dilation[i] * (s.window[i] - 1) + 1 -
                    s.size[i] - s.padding[i]);
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

  requireMemoryForPrimitive();
  Chunk chunk;
  chunk.plain = {plain(inputAt), plain(weightAt), plain(outputAt)};
  const auto direct = dnnl::algorithm::convolution_direct;
  auto finish = [&](const auto &desc, auto make, Descs blocked) {
    chunk.blocked = std::move(blocked);
    chunk.scratchpad = desc.scratchpad_desc();
    chunk.implementation = desc.impl_info_str();
    chunk.primitive = make(desc);
  };
  // The gradients' hint: the convolution whose gradients they are reads and writes factors.
  auto hint = [&](const memory::desc &desc, int i) {
    return s.computes == Kind::forward || desc.data_type() == dataType(s.factors)
               ? desc
               : memory::desc(dims[i], dataType(s.factors), Tag::any);
  };
  dnnl::convolution_forward::primitive_desc forward({dnnl::prop_kind::forward_training, direct,
                                                     hint(input, inputAt), hint(weight, weightAt),
                                                     output, strides, gaps, before, after},
                                                    attributes, engine());
  if (s.computes == Kind::forward) {
    finish(forward, [](auto &desc) { return dnnl::convolution_forward(desc); },
           {forward.src_desc(), forward.weights_desc(), forward.dst_desc()});
  } else if (s.computes == Kind::backwardInput) {
    dnnl::convolution_backward_data::primitive_desc desc(
        {direct, input, weight, output, strides, gaps, before, after}, attributes, engine(),
        forward);
    finish(desc, [](auto &desc) { return dnnl::convolution_backward_data(desc); },
           {desc.diff_src_desc(), desc.weights_desc(), desc.diff_dst_desc()});
  } else {
    dnnl::convolution_backward_weights::primitive_desc desc(
        {direct, input, weight, output, strides, gaps, before, after}, attributes, engine(),
        forward);
    finish(desc, [](auto &desc) { return dnnl::convolution_backward_weights(desc); },
           {desc.src_desc(), desc.diff_weights_desc(), desc.diff_dst_desc()});
  }
  for (int i = 0; i < 3; ++i) {
    if (chunk.plain[i] == chunk.blocked[i])
      continue;
    bool back = i == written(s.computes);
    dnnl::reorder::primitive_desc desc(engine(), back ? chunk.blocked[i] : chunk.plain[i], engine(),
                                       back ? chunk.plain[i] : chunk.blocked[i]);
    chunk.reorders[i] = dnnl::reorder(desc);
  }
  return chunk;
} catch (const dnnl::error &error) {
  libraryFailure("a convolution of " + std::to_string(s.channels) + " to " +
                     std::to_string(s.filters) + " channels",
                 error);
}

static size_t place(const Chunk &chunk, Places &places) {
  ScratchLayout layout;
  for (int i = 0; i < 3; ++i)
    places.blocked[i] =
        chunk.plain[i] == chunk.blocked[i] ? 0 : layout.take(chunk.blocked[i].get_size());
  places.library = layout.take(chunk.scratchpad.get_size());
  return layout.total;
}

/// The sizes of chunks that occur: full ones, and the remainder or 0.
static std::array<int64_t, 2> chunkSizes(const spec::Convolution &s) {
  return {std::min(s.images, s.tileImages), s.images > s.tileImages ? s.images % s.tileImages : 0};
}

struct Convolution::Impl {
  spec::Convolution spec;
  int64_t imageElements, weightElements, outputElements;
  size_t scratch = 0;
  std::array<Chunk, 2> chunks;
  std::array<Places, 2> places;

  struct Worker {
    dnnl::stream stream{engine()};
    std::array<Binding, 2> bindings;
  };
  std::vector<Worker> workers;
};

Convolution::Convolution(const spec::Convolution &spec, int workers) : impl(new Impl) {
  impl->spec = spec;
  impl->imageElements = spec.imageElements();
  impl->weightElements = spec.weightElements();
  impl->outputElements = spec.outputElements();
  OneThread one;
  impl->workers.resize(workers);
  for (int size = 0; size < 2; ++size) {
    int64_t images = chunkSizes(spec)[size];
    if (!images)
      continue;
    Chunk &chunk = impl->chunks[size] = makeChunk(spec, images);
    impl->scratch = std::max(impl->scratch, place(chunk, impl->places[size]));
    std::array<int, 3> argument = arguments(spec.computes);
    for (Impl::Worker &worker : impl->workers) {
      Binding &binding = worker.bindings[size];
      binding.scratch = unbound(chunk.scratchpad);
      for (int i = 0; i < 3; ++i) {
        binding.plain[i] = unbound(chunk.plain[i]);
        if (!chunk.reorders[i]) {
          binding.blocked[i] = binding.plain[i];
          continue;
        }
        binding.blocked[i] = unbound(chunk.blocked[i]);
        bool back = i == written(spec.computes);
        binding.reorders[i] =
            Call(chunk.reorders[i], {{DNNL_ARG_FROM, back ? binding.blocked[i] : binding.plain[i]},
                                     {DNNL_ARG_TO, back ? binding.plain[i] : binding.blocked[i]}});
      }
      binding.convolve = Call(chunk.primitive, {{argument[0], binding.blocked[0]},
                                                {argument[1], binding.blocked[1]},
                                                {argument[2], binding.blocked[2]},
                                                {DNNL_ARG_SCRATCHPAD, binding.scratch}});
    }
  }
}

Convolution::~Convolution() = default;

int64_t Convolution::tasks() const { return impl->spec.tiles(); }
size_t Convolution::scratch() const { return impl->scratch; }
const char *Convolution::implementation() const { return impl->chunks[0].implementation.c_str(); }

void Convolution::run(int64_t lo, int64_t hi, int worker, const Operands &operands,
                      std::byte *scratch) {
  const spec::Convolution &s = impl->spec;
  Impl::Worker &state = impl->workers[worker];
  const int target = written(s.computes);
  int previous = -1; // the size of chunk that the reordered weights are for
  for (int64_t task = lo; task < hi; ++task) {
    int64_t image = task * s.tileImages;
    int size = s.images > s.tileImages && s.images - image < s.tileImages;
    Binding &binding = state.bindings[size];
    bool partial = s.isPartial();
    auto at = [&](void *tensor, Kind kind, int64_t elements) -> void * {
      return static_cast<std::byte *>(tensor) + elements * int64_t(sizeOf(s.elementOf(kind)));
    };
    std::array<void *, 3> data = {
        at(operands.input, Kind::backwardInput, image * impl->imageElements),
        partial ? operands.partials + task * impl->weightElements : operands.weight,
        at(operands.output, Kind::forward, image * impl->outputElements)};
    bind(binding.scratch, scratch + impl->places[size].library);
    for (int i = 0; i < 3; ++i) {
      bind(binding.plain[i], data[i]);
      if (!impl->chunks[size].reorders[i])
        continue;
      if (previous != size)
        bind(binding.blocked[i], scratch + impl->places[size].blocked[i]);
      if (i != target && !(i == weightAt && previous == size))
        binding.reorders[i].run(state.stream);
    }
    binding.convolve.run(state.stream);
    if (impl->chunks[size].reorders[target])
      binding.reorders[target].run(state.stream);
    previous = size;
  }
}

int64_t Convolution::sumTasks() const {
  return impl->spec.isPartial() ? (impl->weightElements - 1) / sumBlock + 1 : 0;
}

void Convolution::sum(int64_t lo, int64_t hi, const Operands &operands) const {
  const int64_t weights = impl->weightElements, tiles = tasks();
  for (int64_t block = lo; block < hi; ++block) {
    int64_t begin = block * sumBlock, end = std::min(weights, begin + sumBlock);
    float *__restrict sums = static_cast<float *>(operands.weight);
    const float *__restrict partial = operands.partials;
    std::copy(partial + begin, partial + end, sums + begin);
    for (int64_t tile = 1; tile < tiles; ++tile) {
      partial += weights;
      for (int64_t i = begin; i < end; ++i)
        sums[i] += partial[i];
    }
  }
}

} // namespace weir::cpu
