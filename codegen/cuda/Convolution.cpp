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

#include "ir/weir/convolution/Convolution.h"
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

  /// An operand as `type`<op, its element, `more`>.
  ProductTensor side(unsigned operand, StringRef type, bool alongK, StringRef more = "");
  /// An operand or the result as [image, plane, place].
  ProductTensor planes(unsigned operand, int64_t count, bool linesArePlaces);
  ProductTensor planesSink(int64_t count);
  Type elementOf(unsigned operand) const {
    return tensorType(root->getOperand(operand)).getElementType();
  }

  Emission &e;
  Operation *root;
  Sizes sizes;
  int64_t images, channels, filters, taps, places;
  bool isStrided, seesEachOnce; ///< the window is a pixel, and goes over all of them in order
  Type result;
  TiledProduct product;
};

ConvolutionEmitter::ConvolutionEmitter(Emission &e, Operation *root)
    : e(e), root(root), sizes(sizesOf(root)), images(sizes.image[0]), channels(sizes.image[1]),
      filters(sizes.weight[0]), taps(sizes.weight[2] * sizes.weight[3]),
      places(sizes.out[2] * sizes.out[3]), isStrided(sizes.strides[0] * sizes.strides[1] != 1),
      result(tensorType(e.kernel.getResult(0)).getElementType()) {
  product.ofPlaces = true;
  seesEachOnce = taps == 1 && !isStrided && sizes.padding[0] == 0 && sizes.padding[1] == 0;
  product.factor = factorOf(elementOf(0), elementOf(1));
}

ProductTensor ConvolutionEmitter::side(unsigned operand, StringRef type, bool alongK,
                                       StringRef more) {
  Type element = elementOf(operand);
  return {type.str() + "<op, " + e.elementName(element) + more.str() + ">",
          inputName(root->getOperand(operand)), element, 1, alongK};
}

ProductTensor ConvolutionEmitter::planes(unsigned operand, int64_t count, bool linesArePlaces) {
  Type element = elementOf(operand);
  int64_t vector = vectorOf(places, element, product.factor);
  return {"weir_planes<" + e.elementName(element) + ", " + arguments({images, count, places}) +
              (linesArePlaces ? ", true, " : ", false, ") + std::to_string(vector) + ">",
          inputName(root->getOperand(operand)), element, vector, !linesArePlaces};
}

ProductTensor ConvolutionEmitter::planesSink(int64_t count) {
  int64_t vector = vectorOf(places, result, result);
  return {"weir_planes_sink<" + e.elementName(result) + ", " +
              arguments({images, count, places, vector}) + ">",
          "out0", result, vector};
}

void ConvolutionEmitter::forward() {
  product.rows = filters;
  product.columns = images * places;
  product.ks = channels * taps;
  product.a =
      matrixSide(e, root->getOperand(1), product.factor, filters, product.ks, product.ks, 1, 0);
  product.b = seesEachOnce ? planes(0, channels, true) : side(0, "weir_seen", false, ", true");
  product.sink = planesSink(filters);
}

void ConvolutionEmitter::inputGradient() {
  auto stretch = [&](int64_t size, unsigned d) { return llvm::divideCeil(size, sizes.strides[d]); };
  product.batches = sizes.strides[0] * sizes.strides[1];
  product.rows = channels;
  product.columns = images * stretch(sizes.image[2], 0) * stretch(sizes.image[3], 1);
  product.ks = filters * stretch(sizes.weight[2], 0) * stretch(sizes.weight[3], 1);
  if (seesEachOnce) {
    product.a =
        matrixSide(e, root->getOperand(1), product.factor, channels, filters, 1, channels, 0);
    product.b = planes(0, filters, true);
    product.sink = planesSink(channels);
    return;
  }
  product.a = side(1, "weir_strided_taps", taps > 1);
  product.b = side(0, "weir_answers", false);
  int64_t vector = isStrided ? 1 : vectorOf(sizes.image[2] * sizes.image[3], result, result);
  product.sink = {"weir_strided_sink<op, " + e.elementName(result) + ", " + std::to_string(vector) +
                      ">",
                  "out0", result, vector};
}

void ConvolutionEmitter::weightGradient() {
  product.rows = filters;
  product.columns = channels * taps;
  product.ks = images * places;
  product.a = planes(1, filters, false);
  product.b = seesEachOnce ? planes(0, channels, false) : side(0, "weir_seen", true, ", false");
  product.sink = matrixSink(e, "out0", result, product.rows, product.columns);
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
