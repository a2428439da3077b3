//===- Convolution.cpp - Kernels of convolutions --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of what device/weir_convolution.h sees in the tensors.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Product.h"

using namespace mlir;

namespace weir::gpu {

bool isConvolution(Operation *op) {
  return isa<ConvolutionOp, ConvolutionInputGradOp, ConvolutionWeightGradOp>(op);
}

namespace {

/// Of a convolution or of the one whose gradient this is.
struct Sizes {
  ArrayRef<int64_t> image, weight, out, strides, padding; ///< [image, channel, y, x] and so on
};

Sizes sizesOf(Operation *root) {
  ArrayRef<int64_t> first = shapeOf(root->getOperand(0)), second = shapeOf(root->getOperand(1)),
                    result = shapeOf(root->getResult(0));
  if (auto op = dyn_cast<ConvolutionOp>(root))
    return {first, second, result, op.getStrides(), op.getPadding()};
  if (auto op = dyn_cast<ConvolutionInputGradOp>(root))
    return {result, second, first, op.getStrides(), op.getPadding()};
  auto op = cast<ConvolutionWeightGradOp>(root);
  return {first, result, second, op.getStrides(), op.getPadding()};
}

class ConvolutionEmitter {
public:
  ConvolutionEmitter(Emission &e, Operation *root);
  void write();

private:
  void forward();
  void inputGradient();
  void weightGradient();

  /// An operand as `type`<`before`element, `numbers`>.
  ProductTensor side(unsigned operand, StringRef type, bool alongK, ArrayRef<int64_t> numbers,
                     StringRef flag = "");
  ProductTensor planes(StringRef type, std::string buffer, Type element, int64_t count,
                       int64_t size, int64_t vector);
  Type elementOf(unsigned operand) const {
    return tensorType(root->getOperand(operand)).getElementType();
  }
  int64_t vectorFor(unsigned operand, int64_t together) const {
    return vectorOf(together, elementOf(operand), product.factor);
  }

  Emission &e;
  Operation *root;
  Sizes sizes;
  int64_t images, channels, filters, taps, places, pixels;
  bool isStrided, seesEachOnce; ///< the window is a pixel, and goes over all of them in order
  Type result;
  TiledProduct product;
};

ConvolutionEmitter::ConvolutionEmitter(Emission &e, Operation *root)
    : e(e), root(root), sizes(sizesOf(root)), images(sizes.image[0]), channels(sizes.image[1]),
      filters(sizes.weight[0]), taps(sizes.weight[2] * sizes.weight[3]),
      places(sizes.out[2] * sizes.out[3]), pixels(sizes.image[2] * sizes.image[3]),
      isStrided(sizes.strides[0] * sizes.strides[1] != 1),
      result(tensorType(e.kernel.getResult(0)).getElementType()) {
  seesEachOnce = taps == 1 && !isStrided && sizes.padding[0] == 0 && sizes.padding[1] == 0;
  product.factor = factorOf(elementOf(0), elementOf(1));
}

ProductTensor ConvolutionEmitter::side(unsigned operand, StringRef type, bool alongK,
                                       ArrayRef<int64_t> numbers, StringRef flag) {
  std::string text = type.str() + "<op, " + e.elementName(elementOf(operand)) + flag.str();
  for (int64_t number : numbers)
    text += ", " + std::to_string(number);
  return {text + ">", inputName(root->getOperand(operand)), alongK};
}

ProductTensor ConvolutionEmitter::planes(StringRef type, std::string buffer, Type element,
                                         int64_t count, int64_t size, int64_t vector) {
  return {type.str() + "<" + e.elementName(element) + ", " +
              arguments({images, count, size, vector}) + ">",
          std::move(buffer)};
}

void ConvolutionEmitter::forward() {
  int64_t ks = channels * taps;
  product.rows = filters;
  product.columns = images * places;
  product.ks = ks;
  product.a = {"weir_matrix<" + e.elementName(elementOf(1)) + ", " +
                   arguments({filters, ks, ks, 1, 0, vectorFor(1, ks)}) + ">",
               inputName(root->getOperand(1))};
  product.b = side(0, "weir_seen", false, vectorFor(0, seesEachOnce ? pixels : 1), ", true");
  product.sinkVector = vectorOf(places, result, result);
  product.sink = planes("weir_planes_sink", "out0", result, filters, places, product.sinkVector);
}

void ConvolutionEmitter::inputGradient() {
  auto stretch = [&](int64_t size, unsigned d) { return llvm::divideCeil(size, sizes.strides[d]); };
  product.batches = sizes.strides[0] * sizes.strides[1];
  product.rows = channels;
  product.columns = images * stretch(sizes.image[2], 0) * stretch(sizes.image[3], 1);
  product.ks = filters * stretch(sizes.weight[2], 0) * stretch(sizes.weight[3], 1);
  product.a = side(1, "weir_strided_taps", taps > 1, {});
  product.b = side(0, "weir_answers", false, vectorFor(0, seesEachOnce ? pixels : 1));
  product.sinkVector = isStrided ? 1 : vectorOf(pixels, result, result);
  product.sink = {"weir_strided_sink<op, " + e.elementName(result) + ", " +
                      std::to_string(product.sinkVector) + ">",
                  "out0"};
}

void ConvolutionEmitter::weightGradient() {
  product.rows = filters;
  product.columns = channels * taps;
  product.ks = images * places;
  product.a = planes("weir_planes", inputName(root->getOperand(1)), elementOf(1), filters, places,
                     vectorFor(1, places));
  product.b = side(0, "weir_seen", true, vectorFor(0, seesEachOnce ? pixels : 1), ", false");
  product.sinkVector = vectorOf(product.columns, result, result);
  product.sink = {"weir_matrix_sink<" + e.elementName(result) + ", " +
                      arguments({product.rows, product.columns, product.sinkVector}) + ">",
                  "out0"};
}

void ConvolutionEmitter::write() {
  auto constants = [](std::initializer_list<std::pair<StringRef, int64_t>> numbers) {
    std::string text;
    for (auto [name, number] : numbers)
      text += (text.empty() ? "  static constexpr int " : ", ") + name.str() + " = " +
              std::to_string(number);
    return text + ";\n";
  };
  std::string op =
      "struct op {\n" +
      constants({{"images", images}, {"channels", channels}, {"filters", filters}}) +
      constants({{"height", sizes.image[2]}, {"width", sizes.image[3]}}) +
      constants({{"windowHeight", sizes.weight[2]}, {"windowWidth", sizes.weight[3]}}) +
      constants({{"strideY", sizes.strides[0]}, {"strideX", sizes.strides[1]}}) +
      constants({{"paddingY", sizes.padding[0]}, {"paddingX", sizes.padding[1]}}) +
      constants({{"outHeight", sizes.out[2]}, {"outWidth", sizes.out[3]}}) + "};\n";
  if (isa<ConvolutionOp>(root))
    forward();
  else if (isa<ConvolutionInputGradOp>(root))
    inputGradient();
  else
    weightGradient();
  writeProduct(e, product);
  e.text.headers.push_back("weir_convolution.h");
  e.text.declarations += op;
}

} // namespace

std::string convolutionDeclines(Operation *root) {
  constexpr int64_t mostSize = 1 << 24; // coordinates are of 32 bits, and sums of two
  Sizes sizes = sizesOf(root);
  for (ArrayRef<int64_t> some :
       {sizes.image, sizes.weight, sizes.out, sizes.strides, sizes.padding})
    for (int64_t size : some)
      if (size > mostSize)
        return "sizes of more than 2^24";
  return productDeclines(root);
}

LogicalResult emitConvolution(Emission &e) {
  for (Operation &op : e.body())
    if (isConvolution(&op)) {
      ConvolutionEmitter(e, &op).write();
      return success();
    }
  return e.kernel.emitError("no convolution");
}

} // namespace weir::gpu
