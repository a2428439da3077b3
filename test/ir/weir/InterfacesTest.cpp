//===- InterfacesTest.cpp - What ops' interfaces say is true --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That every op has its interfaces is in test/passes/autodiff/OpListing.cpp.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/rows/Rows.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace weir;

namespace {

class Interfaces : public testing::Test {
protected:
  Interfaces() {
    registry.insert<WeirDialect, mlir::func::FuncDialect>();
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    // The roundtrip tests hold every op.
    for (const char *file :
         {"elementwise", "structure", "compute", "collective", "program", "recipe"}) {
      std::string path = WEIR_TEST_SOURCES "/" + std::string(file) + ".mlir";
      modules.push_back(mlir::parseSourceFile<mlir::ModuleOp>(path, &context));
    }
  }

  void forEachOp(llvm::function_ref<void(mlir::Operation *)> visit) {
    for (auto &module : modules) {
      ASSERT_TRUE(module);
      module->walk([&](mlir::Operation *op) {
        if (llvm::isa_and_nonnull<WeirDialect>(op->getDialect()))
          visit(op);
      });
    }
  }

  /// The first op of a kind in the roundtrip tests.
  template <typename Op> Op first() {
    Op found;
    forEachOp([&](mlir::Operation *op) {
      if (auto match = llvm::dyn_cast<Op>(op); match && !found)
        found = match;
    });
    return found;
  }

  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

TEST_F(Interfaces, roundtripTestsHoldEveryOp) {
  std::set<llvm::StringRef> seen;
  forEachOp([&](mlir::Operation *op) { seen.insert(op->getName().getStringRef()); });
  unsigned ops = 0;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == "weir") {
      ++ops;
      EXPECT_TRUE(seen.contains(op.getStringRef())) << op.getStringRef().str();
    }
  EXPECT_GT(ops, 60u);
}

TEST_F(Interfaces, castRulesAreOfFloatsOnly) {
  forEachOp([](mlir::Operation *op) {
    auto castable = llvm::dyn_cast<Castable>(op);
    if (!castable)
      return;
    CastRule rule = castable.castRule();
    ASSERT_EQ(rule.operands.size(), op->getNumOperands());
    ASSERT_EQ(rule.results.size(), op->getNumResults());
    auto isFloat = [](mlir::Type type) {
      return llvm::cast<mlir::RankedTensorType>(type).getElementType().isF32();
    };
    for (auto [low, type] : llvm::zip_equal(rule.operands, op->getOperandTypes()))
      EXPECT_TRUE(!low || isFloat(type)) << op->getName().getStringRef().str();
    for (auto [low, type] : llvm::zip_equal(rule.results, op->getResultTypes()))
      EXPECT_TRUE(!low || isFloat(type)) << op->getName().getStringRef().str();
    // What accumulates says in what, unless f32 is all there is.
    EXPECT_TRUE(rule.accumulates || !op->hasAttr("accumulate"))
        << op->getName().getStringRef().str();
  });
}

TEST_F(Interfaces, statisticsAndSumsStayHigh) {
  using Flags = llvm::SmallVector<bool>;
  EXPECT_EQ(first<NormalizeOp>().castRule().results, (Flags{true, false, false}));
  EXPECT_EQ(first<SoftmaxCrossEntropyOp>().castRule().results, (Flags{false, false}));
  EXPECT_EQ(first<AttentionOp>().castRule().results, (Flags{true, false}));
  EXPECT_EQ(first<ReduceOp>().castRule().results, (Flags{false}));
  EXPECT_EQ(first<MatmulOp>().castRule().operands, (Flags{true, true}));
  EXPECT_TRUE(first<MatmulOp>().castRule().accumulates);
  EXPECT_FALSE(first<AddOp>().castRule().accumulates);
}

TEST_F(Interfaces, costs) {
  auto expect = [](Cost cost, int64_t flops, int64_t bytes) {
    EXPECT_EQ(cost.flops, flops);
    EXPECT_EQ(cost.bytes, bytes);
  };
  expect(first<MatmulOp>().cost(), 2 * 2 * 3 * 4, 4 * (6 + 12 + 8));
  expect(first<AddOp>().cost(), 6, 4 * 3 * 6);
  expect(first<NotOp>().cost(), 4, 8);
  expect(first<ConvolutionOp>().cost(), 2 * 27 * 18, 4 * (50 + 54 + 27));
  // Queries 0, 1 and 2 of 3 see 3, 4 and 5 of 5 keys, in each of 2 heads.
  expect(first<AttentionOp>().cost(), 2 * 12 * (2 * 2 * 4 + 5), 4 * (2 * 24 + 2 * 40 + 6));
}

/// The size of a dimension made of factors.
int64_t sizeOf(const ShardRule &rule, const ShardRule::Dimension &dimension) {
  int64_t size = 1;
  for (unsigned factor : dimension)
    size *= rule.factors[factor].size;
  return size;
}

TEST_F(Interfaces, factorsMakeUpEveryDimension) {
  forEachOp([](mlir::Operation *op) {
    auto shardable = llvm::dyn_cast<Shardable>(op);
    if (!shardable)
      return;
    ShardRule rule = shardable.shardRule();
    auto check = [&](auto values, auto &sides) {
      ASSERT_EQ(values.size(), sides.size()) << op->getName().getStringRef().str();
      for (auto [value, dimensions] : llvm::zip_equal(values, sides)) {
        ASSERT_EQ(shapeOf(value).size(), dimensions.size()) << op->getName().getStringRef().str();
        for (auto [size, dimension] : llvm::zip_equal(shapeOf(value), dimensions))
          EXPECT_EQ(size, sizeOf(rule, dimension)) << op->getName().getStringRef().str();
      }
    };
    check(op->getOperands(), rule.operands);
    check(op->getResults(), rule.results);
  });
}

/// Part `part` of `parts` of a tensor, cut where a dimension's outermost factor is `factor`. A
/// tensor without it stays whole.
Tensor shardOf(const Tensor &tensor, const llvm::SmallVector<ShardRule::Dimension> &dimensions,
               unsigned factor, int64_t part, int64_t parts) {
  Shape shape = tensor.shape, offset(shape.size(), 0);
  for (auto [i, dimension] : llvm::enumerate(dimensions))
    if (!dimension.empty() && dimension[0] == factor) {
      shape[i] /= parts;
      offset[i] = part * shape[i];
    }
  Tensor shard(shape);
  forEachIndex(shape, [&](llvm::ArrayRef<int64_t> index) {
    Shape source;
    for (auto [i, o] : llvm::zip_equal(index, offset))
      source.push_back(i + o);
    shard.at(index) = tensor.at(source);
  });
  return shard;
}

/// Runs a copy of the op on operands, with results of the given shapes; failure where it does not
/// verify.
mlir::FailureOr<Tensors> runOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                               llvm::ArrayRef<Shape> results) {
  auto retyped = [](mlir::Type type, llvm::ArrayRef<int64_t> shape) -> mlir::Type {
    return llvm::cast<mlir::RankedTensorType>(type).clone(shape);
  };
  mlir::Block block;
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&block);
  mlir::OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  for (auto [type, tensor] : llvm::zip_equal(op->getOperandTypes(), operands))
    state.addOperands(block.addArgument(retyped(type, tensor.shape), op->getLoc()));
  for (auto [type, shape] : llvm::zip_equal(op->getResultTypes(), results))
    state.addTypes(retyped(type, shape));
  mlir::Operation *copy = builder.create(state);
  mlir::ScopedDiagnosticHandler quiet(op->getContext(),
                                      [](mlir::Diagnostic &) { return mlir::success(); });
  if (mlir::failed(mlir::verify(copy)))
    return mlir::failure();
  mlir::func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  return Interpreter().run(block, operands);
}

Strides rowMajor(llvm::ArrayRef<int64_t> shape) {
  Strides strides{0, llvm::to_vector(shape), {}};
  int64_t stride = 1;
  for (int64_t size : llvm::reverse(shape)) {
    strides.strides.insert(strides.strides.begin(), stride);
    stride *= size;
  }
  return strides;
}

/// The element of a tensor's memory that strides show at an index.
double shown(const Tensor &memory, const Strides &strides, llvm::ArrayRef<int64_t> index) {
  int64_t at = strides.offset;
  for (auto [i, stride] : llvm::zip_equal(index, strides.strides))
    at += i * stride;
  return memory.values[at];
}

TEST_F(Interfaces, viewsAreWhatTheirStridesShow) {
  unsigned followed = 0, retraced = 0;
  forEachOp([&](mlir::Operation *op) {
    auto view = llvm::dyn_cast<View>(op);
    if (!view)
      return;
    Tensor operand(shapeOf(op->getOperand(0)));
    for (auto [i, value] : llvm::enumerate(operand.values))
      value = double(i);
    auto results = runOp(op, operand, Shape(shapeOf(op->getResult(0))));
    ASSERT_TRUE(mlir::succeeded(results)) << op->getName().getStringRef().str();
    const Tensor &result = results->front();
    if (Strides over = rowMajor(operand.shape); view.follow(over)) {
      ++followed;
      ASSERT_EQ(Shape(over.shape), Shape(result.shape)) << op->getName().getStringRef().str();
      forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
        EXPECT_EQ(result.at(index), shown(operand, over, index))
            << op->getName().getStringRef().str();
      });
    }
    if (Strides over = rowMajor(result.shape); view.retrace(over)) {
      ++retraced;
      EXPECT_EQ(view.use(), ViewUse::each);
      ASSERT_EQ(Shape(over.shape), Shape(operand.shape)) << op->getName().getStringRef().str();
      forEachIndex(operand.shape, [&](llvm::ArrayRef<int64_t> index) {
        EXPECT_EQ(operand.at(index), shown(result, over, index))
            << op->getName().getStringRef().str();
      });
    }
  });
  EXPECT_GE(followed, 5u);
  EXPECT_GE(retraced, 3u);
}

TEST_F(Interfaces, shardsGiveTheWholesShards) {
  std::mt19937 random(3);
  unsigned factorsTried = 0;
  forEachOp([&](mlir::Operation *op) {
    auto shardable = llvm::dyn_cast<Shardable>(op);
    // They count in indices of the whole tensor, which the op alone does not know; and sizes are an
    // attribute of split_dim.
    if (!shardable || llvm::isa<IotaOp, RandomOp, SplitDimOp>(op))
      return;
    ShardRule rule = shardable.shardRule();
    Tensors whole;
    for (mlir::Value operand : op->getOperands()) {
      whole.emplace_back(shapeOf(operand));
      bool isFloat = tensorType(operand).getElementType().isF32();
      for (double &value : whole.back().values)
        value = isFloat ? 0.5 + double(random() % 1000) / 1000 : double(1 + random() % 2);
      if (tensorType(operand).getElementType().isInteger(1))
        for (double &value : whole.back().values)
          value -= 1;
    }
    llvm::SmallVector<Shape> shapes;
    for (mlir::Value result : op->getResults())
      shapes.emplace_back(shapeOf(result));
    auto expected = runOp(op, whole, shapes);
    ASSERT_TRUE(mlir::succeeded(expected)) << op->getName().getStringRef().str();

    for (auto [number, factor] : llvm::enumerate(rule.factors)) {
      // Where integers count in it, a shard's count from its begin, which the op alone does not
      // know.
      if (factor.kind == Factor::Kind::whole || factor.size < 2 || factor.counted)
        continue;
      // Only the outermost factor of a dimension is cut here: the inner ones are its neighbours'
      // elements.
      auto isInner = [&](const ShardRule::Dimension &dimension) {
        return llvm::is_contained(llvm::drop_begin(dimension, dimension.empty() ? 0 : 1), number);
      };
      auto hasInner = [&](auto &sides) {
        return llvm::any_of(sides,
                            [&](auto &dimensions) { return llvm::any_of(dimensions, isInner); });
      };
      if (hasInner(rule.operands) || hasInner(rule.results))
        continue;
      ++factorsTried;
      int64_t parts = factor.size;
      Tensors combined;
      for (int64_t part = 0; part < parts; ++part) {
        Tensors shards, wanted;
        llvm::SmallVector<Shape> shardShapes;
        for (auto [tensor, dimensions] : llvm::zip_equal(whole, rule.operands))
          shards.push_back(shardOf(tensor, dimensions, number, part, parts));
        for (auto [tensor, dimensions] : llvm::zip_equal(*expected, rule.results)) {
          wanted.push_back(shardOf(tensor, dimensions, number, part, parts));
          shardShapes.push_back(wanted.back().shape);
        }
        auto got = runOp(op, shards, shardShapes);
        ASSERT_TRUE(mlir::succeeded(got))
            << op->getName().getStringRef().str() << ", factor " << number;
        if (factor.kind == Factor::Kind::parallel) {
          for (auto [a, b] : llvm::zip_equal(*got, wanted))
            EXPECT_EQ(a.values, b.values)
                << op->getName().getStringRef().str() << ", factor " << number;
          continue;
        }
        if (combined.empty()) {
          combined = *got;
          continue;
        }
        for (auto [total, partial] : llvm::zip_equal(combined, *got))
          for (auto [a, b] : llvm::zip_equal(total.values, partial.values))
            a = factor.kind == Factor::Kind::sum   ? a + b
                : factor.kind == Factor::Kind::max ? std::max(a, b)
                                                   : std::min(a, b);
      }
      for (auto [total, value] : llvm::zip(combined, *expected))
        for (auto [a, b] : llvm::zip_equal(total.values, value.values))
          EXPECT_NEAR(a, b, 1e-12 * (1 + std::abs(b)))
              << op->getName().getStringRef().str() << ", factor " << number;
    }
  });
  EXPECT_GT(factorsTried, 100u);
}

TEST(ElementTypes, AreRowsOfTheTable) {
  mlir::MLIRContext context;
  for (const ElementRow &row : std::span(elementRows).first(programElements)) {
    mlir::Type type = typeOf(&context, row.element);
    EXPECT_EQ(elementOf(type), row.element) << row.name;
    EXPECT_EQ(storedBytes(type), int64_t(row.bytes)) << row.name;
  }
  mlir::Builder builder(&context);
  for (mlir::Type type :
       {mlir::Type(builder.getF64Type()), mlir::Type(mlir::Float8E5M2FNUZType::get(&context)),
        mlir::Type(builder.getI8Type()), mlir::Type(builder.getI64Type()),
        mlir::Type(builder.getIntegerType(32, /*isSigned=*/true)),
        mlir::Type(builder.getIndexType())})
    EXPECT_EQ(elementOf(type), std::nullopt);
  EXPECT_EQ(elementTypes(&context), "f32, i32, ui8, i1, bf16, f16, f8E4M3FN or f8E5M2");
}

} // namespace
