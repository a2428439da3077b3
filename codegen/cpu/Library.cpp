//===- Library.cpp - Kernels that the library serves ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Library.h"
#include "codegen/kernel/ProductSpec.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/product/Product.h"
#include "support/program/Limits.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weir {

/// Packed copies of a tile's operands, and a little.
static int64_t boundOf(const spec::Product &s) {
  if (s.isPacked())
    return s.packedScratch();
  int64_t operands = s.tileM * s.k + s.k * s.tileN + s.tileM * s.tileN;
  return s.tileBatch * operands * int64_t(spec::floatBytes) + (256 << 10);
}

/// The tile's tensors in blocks of sixteen channels, and one image's patches as the columns of a
/// product, and half as much again; too much for an artifact where it would wrap.
static int64_t boundOf(const spec::Convolution &s) {
  auto times = [](int64_t a, int64_t b) {
    return std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(a, b), 2 * limits::threadScratch);
  };
  auto blocked = [](int64_t channels) { return (channels + 15) / 16 * 16; };
  int64_t taps = 1, places = 1;
  for (int64_t size : s.window)
    taps *= size;
  for (int64_t size : s.outSize())
    places *= size;
  int64_t input = s.imageElements() / s.channels * blocked(s.channels);
  int64_t output = places * blocked(s.filters);
  int64_t weight = times(taps * blocked(s.filters), blocked(s.channels / s.groups));
  int64_t patches = times(s.channels * taps, places);
  return 6 * (times(s.tileImages, input + output) + weight + patches) + (512 << 10);
}

/// The tile's tensors in blocks of sixteen planes, and a little.
static int64_t boundOf(const spec::Pooling &s) {
  int64_t planes = (s.tilePlanes + 15) / 16 * 16;
  return planes * (s.inputElements() + s.outputElements()) * int64_t(spec::floatBytes) + (64 << 10);
}

int64_t scratchBound(const spec::Call &call) {
  return std::visit([](const auto &spec) { return boundOf(spec); }, call);
}

/// A tile is worth about this many multiply-adds: some tens of microseconds of one core, which does
/// twice as many of bf16. A product too small for a few of them is cut finer, rather than left to
/// one core.
constexpr int64_t tileWork = 4 << 20, leastWork = 1 << 20;
constexpr int64_t mostTiles = 16, fewTiles = 4;

static int64_t tilesFor(const spec::Product &spec) {
  int64_t work = spec.batch * spec.m * spec.n * spec.k;
  if (spec.factors == Element::bf16)
    work /= 2;
  return std::clamp(work / tileWork, std::clamp<int64_t>(work / leastWork, 1, fewTiles), mostTiles);
}

/// Cuts `size` into at most `pieces` of at least `grain`, as even as can be: the library is slow on
/// thin remainders.
static int64_t tileOf(int64_t size, int64_t pieces, int64_t grain) {
  pieces = std::clamp<int64_t>(pieces, 1, std::max<int64_t>(size / grain, 1));
  int64_t tile = (size + pieces - 1) / pieces;
  return tile >= 4 * grain ? std::min((tile + grain - 1) / grain * grain, size) : tile;
}

/// Cuts C into tiles: by rows first, which the library does not mind down to 32 of them, while
/// columns cut below 256 cost it a tenth to a third (oneDNN 2.6.3, one thread). But each tile reads
/// the whole right operand, and in bf16 packs it: 64 rows where that leaves enough tiles. In bf16
/// it has a slower way where columns are cut: half of the most tiles are enough there. Of a
/// transposed left operand it packs both: the longer side is cut first. Figures are in
/// docs/benchmarks.md.
static void chooseTiles(spec::Product &spec) {
  spec.tileBatch = 1;
  spec.tileM = spec.m;
  spec.tileN = spec.n;
  if (spec.batch > 1) {
    int64_t tiles = std::min(tilesFor(spec), spec.batch);
    spec.tileBatch = (spec.batch + tiles - 1) / tiles;
    return;
  }
  // A power of two shares out evenly among most numbers of cores.
  int64_t tiles = llvm::bit_floor(uint64_t(tilesFor(spec)));
  bool transposed = spec.aColumn != 1, low = spec.factors == Element::bf16;
  int64_t leastRows = spec.m >= 64 * (low ? fewTiles : mostTiles / 2) ? 64 : 32;
  constexpr int64_t leastColumns = 256;
  if (transposed && spec.n > spec.m) {
    spec.tileN = tileOf(spec.n, tiles, leastColumns);
    spec.tileM = tileOf(spec.m, tiles / llvm::divideCeil(spec.n, spec.tileN), leastRows);
    return;
  }
  spec.tileM = tileOf(spec.m, tiles, leastRows);
  int64_t rows = llvm::divideCeil(spec.m, spec.tileM);
  if (!low || transposed || rows < mostTiles / 2)
    spec.tileN = tileOf(spec.n, tiles / rows, leastColumns);
}

/// Whether Weir's own kernel multiplies: where there is AVX2 alone, of sizes that are worth
/// packing.
static bool isPacked(const spec::Product &spec, const Processor &processor) {
  constexpr int64_t leastRows = 24, leastColumns = 32, leastDepth = 32;
  return processor.vectorBits == 256 && spec.batch == 1 && spec.factors == Element::f32 &&
         spec.result == Element::f32 && (!spec.bias || spec.added == Element::f32) &&
         spec.rounding == spec::FactorRounding::none && spec.m >= leastRows &&
         spec.n >= leastColumns && spec.k >= leastDepth && spec.m * spec.n * spec.k >= leastWork;
}

/// Tiles of whole panels. Rows are cut first, as long as a tile keeps enough of them, since a
/// worker reads a panel of the right operand once for a block of its tile's rows: 48, or 24 where
/// there would be fewer tiles than a few cores want.
static void choosePackedTiles(spec::Product &spec) {
  constexpr int64_t leastColumns = 64;
  auto pieces = [](int64_t size, int64_t most, int64_t least) {
    return std::min<int64_t>(most, llvm::bit_floor(uint64_t(std::max<int64_t>(size / least, 1))));
  };
  auto tile = [](int64_t size, int64_t pieces, int64_t panel) {
    return std::min<int64_t>(llvm::alignTo(llvm::divideCeil(size, pieces), panel), size);
  };
  int64_t tiles = llvm::bit_floor(uint64_t(tilesFor(spec)));
  int64_t rows = 1, columns = 1;
  for (int64_t leastRows : {48, 24}) {
    rows = pieces(spec.m, tiles, leastRows);
    columns = pieces(spec.n, tiles / rows, leastColumns);
    if (rows * columns >= std::min(tiles, fewTiles))
      break;
  }
  spec.tileBatch = 1;
  spec.tileM = tile(spec.m, rows, spec::Product::panelRows);
  spec.tileN = tile(spec.n, columns, spec::Product::panelColumns);
}

static Element elementAt(Value value) { return *elementOf(tensorType(value).getElementType()); }

static FailureOr<int64_t> emitProduct(OpBuilder &builder, KernelOp kernel,
                                      const CallBuffers &operands, const Processor &processor) {
  FailureOr<ProductCall> call = productCall(kernel, operands);
  if (failed(call))
    return failure();
  if (isPacked(call->spec, processor)) {
    call->spec.kernel = spec::ProductKernel::packed;
    choosePackedTiles(call->spec);
    call->buffers.push_back(plan::AllocOp::create(
        builder, call->loc, call->spec.packedElements() * int64_t(spec::floatBytes),
        "the packed right operand of a product"));
  } else {
    chooseTiles(call->spec);
  }
  plan::CallOp::create(builder, call->loc, plan::SpecAttr::get(builder.getContext(), call->spec),
                       call->buffers);
  return scratchBound(call->spec);
}

constexpr int64_t convolutionTiles = 8;

/// Of a convolution or one of its gradients.
static spec::Convolution specOf(Operation *root) {
  spec::Convolution spec;
  ArrayRef<int64_t> image = shapeOf(root->getOperand(0)), filter = shapeOf(root->getOperand(1));
  ArrayRef<int64_t> strides, padding;
  if (auto forward = dyn_cast<ConvolutionOp>(root)) {
    strides = forward.getStrides();
    padding = forward.getPadding();
  } else if (auto backward = dyn_cast<ConvolutionInputGradOp>(root)) {
    spec.computes = spec::ConvolutionKind::backwardInput;
    image = shapeOf(root->getResult(0));
    strides = backward.getStrides();
    padding = backward.getPadding();
  } else {
    auto gradient = cast<ConvolutionWeightGradOp>(root);
    spec.computes = spec::ConvolutionKind::backwardWeight;
    filter = shapeOf(root->getResult(0));
    strides = gradient.getStrides();
    padding = gradient.getPadding();
  }
  spec.images = image[0], spec.channels = image[1], spec.filters = filter[0];
  spec.size.assign(image.begin() + 2, image.end());
  spec.window.assign(filter.begin() + 2, filter.end());
  spec.strides.assign(strides.begin(), strides.end());
  spec.padding.assign(padding.begin(), padding.end());
  spec.dilation.assign(spec.size.size(), 1);
  spec.tileImages = (spec.images + convolutionTiles - 1) / convolutionTiles;
  spec.factors = elementAt(root->getOperand(0));
  return spec;
}

static FailureOr<int64_t> emitConvolution(OpBuilder &builder, KernelOp kernel,
                                          const CallBuffers &operands, const Processor &) {
  Operation &op = kernel.getBody().front().front();
  spec::Convolution spec = specOf(&op);
  spec.result = elementAt(kernel.getResult(0));
  Value first = operands.inputs[cast<BlockArgument>(op.getOperand(0)).getArgNumber()];
  Value second = operands.inputs[cast<BlockArgument>(op.getOperand(1)).getArgNumber()];
  // Input, weight and output.
  SmallVector<Value> buffers = {first, second, operands.result};
  if (spec.computes == spec::ConvolutionKind::backwardInput)
    buffers = {operands.result, second, first};
  else if (spec.computes == spec::ConvolutionKind::backwardWeight)
    buffers = {first, operands.result, second};
  if (spec.isPartial())
    buffers.push_back(plan::AllocOp::create(builder, kernel.getLoc(),
                                            spec.tiles() * spec.weightElements() * spec::floatBytes,
                                            "partial weight gradients"));
  plan::CallOp::create(builder, locationsOf(kernel),
                       plan::SpecAttr::get(builder.getContext(), spec), buffers);
  return scratchBound(spec);
}

/// A tile's input should still be in a core's cache when it has been searched for NaN.
constexpr int64_t poolingTileBytes = 256 << 10;

static FailureOr<int64_t> emitPooling(OpBuilder &builder, KernelOp kernel,
                                      const CallBuffers &operands, const Processor &) {
  auto pool = cast<MaxPoolOp>(kernel.getBody().front().front());
  ArrayRef<int64_t> input = shapeOf(pool.getInput()), size = input.take_back(2);
  spec::Pooling spec;
  spec.planes = llvm::product_of(input.drop_back(2));
  spec.size.assign(size.begin(), size.end());
  spec.window.assign(pool.getWindow().begin(), pool.getWindow().end());
  spec.strides.assign(pool.getStrides().begin(), pool.getStrides().end());
  int64_t bytes = spec.planes * spec.inputElements() * int64_t(spec::floatBytes);
  int64_t tiles = std::max<int64_t>(bytes / poolingTileBytes, 1);
  spec.tilePlanes =
      std::min<int64_t>(llvm::alignTo(llvm::divideCeil(spec.planes, tiles), 16), spec.planes);
  Value buffer = operands.inputs[cast<BlockArgument>(pool.getInput()).getArgNumber()];
  plan::CallOp::create(builder, locationsOf(kernel),
                       plan::SpecAttr::get(builder.getContext(), spec),
                       ValueRange{buffer, operands.result});
  return scratchBound(spec);
}

static std::string declinesNothing(Operation *) { return ""; }

/// What no position of the window reaches may not be padding alone.
static std::string declinesConvolution(Operation *root) {
  spec::Convolution spec = specOf(root);
  for (auto [before, size] : llvm::zip_equal(spec.padding, spec.window))
    if (before >= size)
      return "padding of " + std::to_string(before) + " beside a window of " + std::to_string(size);
  if (uint64_t(scratchBound(spec)) > limits::threadScratch)
    return "windows and images that take more than 16 GiB of scratch";
  return "";
}

/// What measures slower than kernels of our own, at one CPU level at least (docs/benchmarks.md), or
/// would take scratch that no cache holds.
static std::string declinesPooling(Operation *root) {
  auto pool = cast<MaxPoolOp>(root);
  ArrayRef<int64_t> input = shapeOf(pool.getInput());
  int64_t taps = llvm::product_of(pool.getWindow()), size = llvm::product_of(input.take_back(2));
  if (pool.getWindow() == pool.getStrides())
    return "windows that lie side by side";
  // Plain loops over neighbouring windows are vectorized.
  if (taps <= (pool.getStrides()[1] == 1 ? 9 : 4))
    return "windows of few taps";
  if (taps > 64)
    return "windows of more than 64 taps";
  if (llvm::product_of(input.drop_back(2)) < 16)
    return "fewer than 16 planes";
  if (size < 64 || size > (64 << 10))
    return "planes of other than 64 to 65536 elements";
  return "";
}

namespace {

/// A row for each op that the library serves.
struct Rule {
  StringRef root;
  KernelShape shape;
  bool multipliesBf16;      ///< where both operands are of bf16
  bool bias, relu, narrows; ///< what it does behind that: `narrows` to bf16, of bf16 alone
  std::string (*declines)(Operation *root);
  FailureOr<int64_t> (*emit)(OpBuilder &, KernelOp, const CallBuffers &, const Processor &);
};

} // namespace

static ArrayRef<Rule> rules() {
  static const Rule all[] = {
      {MatmulOp::getOperationName(), KernelShape::product, true, true, true, true, declinesNothing,
       emitProduct},
      {ConvolutionOp::getOperationName(), KernelShape::call, true, false, false, true,
       declinesConvolution, emitConvolution},
      {ConvolutionInputGradOp::getOperationName(), KernelShape::call, true, false, false, true,
       declinesConvolution, emitConvolution},
      {ConvolutionWeightGradOp::getOperationName(), KernelShape::call, true, false, false, false,
       declinesConvolution, emitConvolution},
      {MaxPoolOp::getOperationName(), KernelShape::call, false, false, false, false,
       declinesPooling, emitPooling},
  };
  return all;
}

static const Rule *ruleOf(KernelShape shape, Operation *root) {
  for (const Rule &rule : rules())
    if (rule.shape == shape && rule.root == root->getName().getStringRef())
      return &rule;
  return nullptr;
}

bool isLibraryShape(KernelShape shape) {
  return llvm::any_of(rules(), [&](const Rule &rule) { return rule.shape == shape; });
}

std::string libraryDeclines(KernelShape shape, Operation *root) {
  if (!isLibraryShape(shape))
    return "";
  const Rule *rule = ruleOf(shape, root);
  if (!rule)
    return "no op of the library's";
  Type factor = tensorType(root->getOperand(0)).getElementType();
  if (!factor.isF32() && !(factor.isBF16() && rule->multipliesBf16))
    return "tensors of other elements than f32" +
           std::string(rule->multipliesBf16 ? " and bf16" : "");
  for (Value operand : root->getOperands())
    if (tensorType(operand).getElementType() != factor)
      return "operands of different elements";
  for (Value result : root->getResults())
    if (!tensorType(result).getElementType().isF32())
      return "results of other elements than f32";
  return rule->declines(root);
}

bool libraryTakes(Operation *root, Epilogue epilogue) {
  const Rule *rule = ruleOf(cast<Fusible>(root).kernelShape(), root);
  if (!rule || epilogue.scaled || bool(epilogue.bias) > rule->bias || epilogue.relu > rule->relu)
    return false;
  Type factor = tensorType(root->getOperand(0)).getElementType();
  if (epilogue.bias && !epilogue.bias.isF32() && !(epilogue.bias.isBF16() && factor.isBF16()))
    return false;
  return !epilogue.result || (rule->narrows && epilogue.result.isBF16() && factor.isBF16());
}

FailureOr<int64_t> emitLibraryCall(OpBuilder &builder, KernelOp kernel, const CallBuffers &buffers,
                                   const Processor &processor) {
  if (kernel.getNumResults() != 1)
    return kernel.emitError("has results beside that of the library call");
  for (Operation &op : kernel.getBody().front())
    if (const Rule *rule = ruleOf(kernel.getShape(), &op))
      return rule->emit(builder, kernel, buffers, processor);
  return kernel.emitError("has no op that the library serves");
}

} // namespace weir
