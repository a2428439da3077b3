//===- Attention.cpp - Kernels of attention -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of the templates of device/weir_attention.h and device/weir_attention_grad.h: the sizes,
// the strides and the size of blocks are constants of the text.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/attention/Attention.h"
#include "codegen/StridedView.h"
#include "codegen/cuda/Emission.h"
#include "codegen/cuda/Print.h"
#include "ir/weir/requests/PrecisionOverrides.h"

using namespace mlir;

namespace weir::gpu {

/// Wider heads need more registers than a thread has.
constexpr int64_t widestHead = 256;

std::string attentionDeclines(Operation *root) {
  if (isa<AttentionOp, AttentionGradOp>(root) && shapeOf(root->getOperand(0))[3] > widestHead)
    return "heads of more than " + std::to_string(widestHead);
  return "";
}

namespace {

/// As weir_cut: how a launch is shared out.
struct Cut {
  int64_t warps, groups, others, stages;
  int64_t rows() const { return 16 * groups * warps; }
  int64_t threads() const { return 32 * warps; }
  std::string text() const {
    std::string all = "weir_cut<";
    for (int64_t number : {warps, groups, others})
      all += std::to_string(number) + ", ";
    return all + std::to_string(stages) + ">";
  }
};

/// What a launch keeps: tiles of rows of its own, and per step, in shared memory; sums and scores
/// in registers.
struct Needs {
  int64_t ownTiles, sums, scores;
  int64_t perOther = 0; ///< bytes of a row of a step beside its two tensors
};

/// So that an SM of 164 KB runs two blocks.
constexpr int64_t sharedLimit = 81 << 10;
/// Registers of a thread for sums and scores; fragments and addresses take the rest of 255.
constexpr int64_t registerLimit = 176;
/// Of two groups, which have more fragments at a time: of narrow heads, where the assembler spills
/// none, and of others.
constexpr int64_t registerLimitOfTwo = 192, registerLimitOfWideTwo = 128;
constexpr int64_t narrowHead = 64;
/// What a step goes over, and what rows of totals are padded to.
constexpr int64_t mostOthers = 64;
/// Up to so many others a launch is mostly begun and ended.
constexpr int64_t fewOthers = 256;

class AttentionEmitter {
public:
  AttentionEmitter(Emission &emission, Value query, Value key, bool causal, double scale);

  LogicalResult forward(AttentionOp op);
  LogicalResult gradient(AttentionGradOp op);

private:
  struct View {
    Type element;
    std::string buffer, type; ///< "in0", "const unsigned short"
    StridedView strides;
  };
  View viewOf(Value operand);
  std::optional<View> viewOfResult(Value result);
  /// `header` has the templates that the kernel calls.
  LogicalResult finish(StringRef header);

  /// "query" and what is passed for it, declared in the body.
  void declare(std::string &body, StringRef name, const View &view);
  void declareResult(std::string &body, StringRef name, const std::optional<View> &view);
  bool isVector(const View &view, int64_t bytes) const;
  void chooseFactor(Operation *op, ArrayRef<Value> factors);
  std::string factorName() const;
  /// Shared bytes of a row of a tile: an odd number of 16 bytes, as weir_tiles has it.
  int64_t pitch() const { return (paddedWidth * storedBytes(factor) / 16 | 1) * 16; }
  int64_t sharedBytes(const Cut &cut, const Needs &needs) const {
    return needs.ownTiles * cut.rows() * pitch() +
           cut.stages * cut.others * (2 * pitch() + needs.perOther);
  }
  SmallVector<Cut> cutsFor(int64_t rows, int64_t others, const Needs &needs) const;
  /// `name` is that of its knobs.
  Cut cutFor(StringRef name, int64_t rows, int64_t others, const Needs &needs);

  Emission &e;
  int64_t batch, heads, queries, keys, width, paddedWidth;
  bool causal;
  double scale;
  Type factor;            ///< f32 or bf16
  bool isRounded = false; ///< what is computed on the way, and f32
  llvm::SmallVector<bool> found;
};

AttentionEmitter::AttentionEmitter(Emission &emission, Value query, Value key, bool causal,
                                   double scale)
    : e(emission), causal(causal), scale(scale), found(emission.kernel.getNumResults(), false) {
  ArrayRef<int64_t> shape = shapeOf(query);
  batch = shape[0];
  heads = shape[1];
  queries = shape[2];
  width = shape[3];
  keys = shapeOf(key)[2];
  paddedWidth = llvm::alignTo(width, 16);
}

AttentionEmitter::View AttentionEmitter::viewOf(Value operand) {
  StridedView strides = stridedView(operand);
  View view;
  view.strides = strides;
  if (auto argument = dyn_cast<BlockArgument>(strides.base)) {
    view.element = tensorType(argument).getElementType();
    view.buffer = "in" + std::to_string(argument.getArgNumber());
    view.type = "const " + cudaType(view.element);
  } else {
    strides.base.getDefiningOp()->emitError("an attention kernel cannot read this through strides");
  }
  return view;
}

std::optional<AttentionEmitter::View> AttentionEmitter::viewOfResult(Value result) {
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
    if (auto strides = stridedDestination(e.yielded(i), result)) {
      found[i] = true;
      Type element = tensorType(e.kernel.getResult(i)).getElementType();
      return View{element, "out" + std::to_string(i), cudaType(element), *strides};
    }
  return std::nullopt;
}

/// What is multiplied as it lies in memory; all else as f32.
void AttentionEmitter::chooseFactor(Operation *op, ArrayRef<Value> factors) {
  bool isBF16 = llvm::all_of(factors, [](Value value) {
    return tensorType(stridedView(value).base).getElementType().isBF16();
  });
  MLIRContext *context = e.builder.getContext();
  factor = isBF16 ? Type(BFloat16Type::get(context)) : Type(Float32Type::get(context));
  // bf16 has fewer digits than TF32: what it lets be rounded may be where others are not bf16.
  isRounded = factorsOf(op).has_value();
}

/// Whether `bytes` at a time are in one row and aligned.
bool AttentionEmitter::isVector(const View &view, int64_t bytes) const {
  int64_t count = bytes / storedBytes(view.element);
  const Strides &strides = view.strides;
  return strides.strides.size() == 4 && strides.strides[3] == 1 && width % count == 0 &&
         strides.offset % count == 0 &&
         llvm::all_of(ArrayRef(strides.strides).drop_back(),
                      [&](int64_t stride) { return stride % count == 0; });
}

void AttentionEmitter::declare(std::string &body, StringRef name, const View &view) {
  bool isInput = StringRef(view.type).starts_with("const");
  // Results are stored by two columns of a fragment, inputs copied as they are.
  bool vector = isInput ? view.element == factor && isVector(view, accessBytes)
                        : isVector(view, 2 * storedBytes(view.element));
  body += "  weir_heads<" + e.elementName(view.element);
  for (int64_t i = 0; i < 4; ++i)
    body += ", " +
            std::to_string(i < int64_t(view.strides.strides.size()) ? view.strides.strides[i] : 0);
  body += std::string(", ") + (vector ? "true" : "false") + ", " + view.type + "> " + name.str() +
          "{" + view.buffer +
          (view.strides.offset ? " + " + std::to_string(view.strides.offset) : "") + "};\n";
}

void AttentionEmitter::declareResult(std::string &body, StringRef name,
                                     const std::optional<View> &view) {
  if (view)
    declare(body, name, *view);
  else
    body += "  weir_unwanted " + name.str() + ";\n";
}

/// Every cut that fits, the best first: the most rows, and the most of a step that does not pad the
/// others by a tenth; sharing what is copied before buffering it twice. Fragments of the others
/// serve two groups where that leaves every multiprocessor two blocks, but not where a block has
/// much to read before its few steps: more blocks at a time then hide that.
SmallVector<Cut> AttentionEmitter::cutsFor(int64_t rows, int64_t others, const Needs &needs) const {
  auto limit = [](int64_t size, int64_t most) {
    return std::min<int64_t>(llvm::PowerOf2Ceil(size), most);
  };
  int64_t mostWarps = limit(llvm::divideCeil(rows, 16), 4);
  int64_t mostOfStep = std::max<int64_t>(16, limit(others, mostOthers));
  auto padded = [&](int64_t step) { return double(llvm::alignTo(others, step)); };
  while (mostOfStep > 32 && padded(mostOfStep) > 1.1 * padded(mostOfStep / 2))
    mostOfStep /= 2;
  SmallVector<Cut> all;
  auto addFitting = [&](int64_t warps, int64_t groups, ArrayRef<int64_t> someStages) {
    for (int64_t stages : someStages)
      for (int64_t step = mostOfStep; step >= 16; step /= 2) {
        Cut cut{warps, groups, step, stages};
        int64_t registers = groups * (needs.sums * paddedWidth + needs.scores * step) / 2;
        int64_t most = groups == 1                 ? registerLimit
                       : paddedWidth <= narrowHead ? registerLimitOfTwo
                                                   : registerLimitOfWideTwo;
        if (sharedBytes(cut, needs) <= sharedLimit && registers <= most)
          all.push_back(cut);
      }
  };
  bool isMostlyBegun = needs.ownTiles > needs.sums && others <= fewOthers;
  if (batch * heads * (rows / 128) >= 2 * e.architecture.multiprocessors && !isMostlyBegun)
    addFitting(4, 2, {2});
  for (int64_t warps = mostWarps; warps > 1; warps /= 2)
    addFitting(warps, 1, {2, 1});
  if (all.empty())
    all.push_back({1, 1, 16, 1});
  return all;
}

/// The best, unless others are chosen, number by number.
Cut AttentionEmitter::cutFor(StringRef name, int64_t rows, int64_t others, const Needs &needs) {
  SmallVector<Cut> cuts = cutsFor(rows, others, needs);
  auto decide = [&](StringRef what, int64_t Cut::*number) {
    SmallVector<int64_t> options;
    for (const Cut &cut : cuts)
      if (!llvm::is_contained(options, cut.*number))
        options.push_back(cut.*number);
    int64_t chosen = e.choose((name + what).str(), cuts.front().*number, options);
    llvm::erase_if(cuts, [&](const Cut &cut) { return cut.*number != chosen; });
  };
  decide("groups", &Cut::groups);
  decide("warps", &Cut::warps);
  decide("step", &Cut::others);
  decide("stages", &Cut::stages);
  return cuts.front();
}

/// f16 has the digits of TF32.
std::string AttentionEmitter::factorName() const {
  if (factor.isF32())
    return isRounded ? "tf32" : "f32";
  return isRounded ? "rounded_bf16" : "bf16";
}

LogicalResult AttentionEmitter::finish(StringRef header) {
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
    if (!found[i])
      return e.kernel.emitError("result ")
             << i << " of this attention kernel is no layout of one of attention's";
  e.text.headers.push_back("weir_attention_tiles.h");
  e.text.headers.push_back(header.str());
  e.text.declarations += "struct op {\n  static constexpr int batch = " + std::to_string(batch) +
                         ", heads = " + std::to_string(heads) +
                         ", queries = " + std::to_string(queries) +
                         ", keys = " + std::to_string(keys) + ", width = " + std::to_string(width) +
                         ";\n  static constexpr bool isCausal = " + (causal ? "true" : "false") +
                         ";\n  static constexpr float scale = " + cudaConstant(float(scale)) +
                         ";\n  typedef weir_factor_" + factorName() + " factor;\n};\n";
  return success();
}

LogicalResult AttentionEmitter::forward(AttentionOp op) {
  chooseFactor(op, {op.getQuery(), op.getKey(), op.getValue()});
  std::string body;
  for (auto [name, operand] : {std::pair("query", op.getQuery()), std::pair("key", op.getKey()),
                               std::pair("value", op.getValue())}) {
    View view = viewOf(operand);
    if (view.buffer.empty())
      return failure();
    declare(body, name, view);
  }
  declareResult(body, "result", viewOfResult(op.getResult()));
  declareResult(body, "logSumExp", viewOfResult(op.getLogSumExp()));
  Needs needs{.ownTiles = 1, .sums = 1, .scores = 1};
  Cut cut = cutFor("", queries, keys, needs);
  body += "  weir_attend<op, " + cut.text() + ">(query, key, value, result, logSumExp);\n";
  e.write("", batch * heads * llvm::divideCeil(queries, cut.rows()), cut.threads(),
          sharedBytes(cut, needs), body);
  return finish("weir_attention.h");
}

LogicalResult AttentionEmitter::gradient(AttentionGradOp op) {
  chooseFactor(op, {op.getQuery(), op.getKey(), op.getValue(), op.getCotangent()});
  std::string factors, all;
  for (auto [name, operand] :
       {std::pair("query", op.getQuery()), std::pair("key", op.getKey()),
        std::pair("value", op.getValue()), std::pair("output", op.getOutput()),
        std::pair("logSumExp", op.getLogSumExp()), std::pair("cotangent", op.getCotangent())}) {
    View view = viewOf(operand);
    if (view.buffer.empty())
      return failure();
    declare(all, name, view);
    if (operand != op.getOutput() && operand != op.getLogSumExp())
      declare(factors, name, view);
  }
  auto queryGrad = viewOfResult(op.getQueryGrad()), keyGrad = viewOfResult(op.getKeyGrad()),
       valueGrad = viewOfResult(op.getValueGrad());

  std::string totals = "reinterpret_cast<weir_of_query *>(workspace)";
  constexpr int64_t totalBytes = 8;
  e.plan.workspace = batch * heads * llvm::alignTo(queries, mostOthers) * totalBytes;
  {
    Needs needs{.ownTiles = 2, .sums = 1, .scores = 2};
    Cut cut = cutFor("queries_", queries, keys, needs);
    declareResult(all, "queryGrad", queryGrad);
    all += "  weir_attend_grad_queries<op, " + cut.text() +
           ">(query, key, value, output, logSumExp, cotangent, " + totals + ", queryGrad);\n";
    e.write("_queries", batch * heads * llvm::divideCeil(queries, cut.rows()), cut.threads(),
            sharedBytes(cut, needs), all);
  }
  auto writeKeys = [&](StringRef suffix, const std::optional<View> &ofKeys,
                       const std::optional<View> &ofValues) {
    if (!ofKeys && !ofValues)
      return;
    Needs needs{ofKeys ? 2 : 1, bool(ofKeys) + bool(ofValues), ofKeys ? 2 : 1, totalBytes};
    Cut cut = cutFor((suffix.drop_front() + "_").str(), keys, queries, needs);
    std::string body = factors;
    declareResult(body, "keyGrad", ofKeys);
    declareResult(body, "valueGrad", ofValues);
    body += "  weir_attend_grad_keys<op, " + cut.text() + ">(query, key, value, cotangent, " +
            totals + ", keyGrad, valueGrad);\n";
    e.write(suffix, batch * heads * llvm::divideCeil(keys, cut.rows()), cut.threads(),
            sharedBytes(cut, needs), body);
  };
  // Sums of both do not fit into a thread's registers.
  bool isWide = paddedWidth + mostOthers / 4 > registerLimit;
  if (isWide) {
    writeKeys("_keys", keyGrad, std::nullopt);
    writeKeys("_values", std::nullopt, valueGrad);
  } else {
    writeKeys("_keys", keyGrad, valueGrad);
  }
  return finish("weir_attention_grad.h");
}

} // namespace

LogicalResult emitAttention(Emission &e) {
  for (Operation &op : e.body()) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      return AttentionEmitter(e, attention.getQuery(), attention.getKey(), attention.getCausal(),
                              attention.getScale().convertToDouble())
          .forward(attention);
    if (auto gradient = dyn_cast<AttentionGradOp>(op))
      return AttentionEmitter(e, gradient.getQuery(), gradient.getKey(), gradient.getCausal(),
                              gradient.getScale().convertToDouble())
          .gradient(gradient);
  }
  return e.kernel.emitError("an attention kernel without attention");
}

} // namespace weir::gpu
