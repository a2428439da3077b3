//===- weir_convolution.h - Convolutions as products ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and their gradients as products (weir_product.h) of matrices that nobody stores:
//
//                    rows       columns                  k
//   forward          filters    places of the result     taps of the window, per channel
//   input gradient   channels   places of the image      taps of the window, per filter
//   weight gradient  filters    taps, per channel        places of the result
//
// where places are those of all images, one after the other. With a stride, what a place of the
// image gets comes from every stride-th tap alone, the same ones for all places at a stride's
// distance: these are a batch of their own.
//
// Numbers of places and taps are unsigned: dividing them by constants takes half the instructions.
//
// C has the sizes: images, channels, filters, height, width (of an image), windowHeight,
// windowWidth, strideY, strideX, paddingY, paddingX, outHeight, outWidth.
#pragma once

// A coordinate that is outside with whatever is added.
constexpr int weir_outside = 1 << 29;

// What the window sees of [image, channel, y, x]. Where and which tap are the same kind of thing:
// parts of an offset and of a coordinate.
struct weir_spot {
  int offset, y, x;
};

template <int height, int width>
__device__ __forceinline__ bool weir_is_inside(weir_spot a, weir_spot b) {
  return unsigned(a.y + b.y) < unsigned(height) && unsigned(a.x + b.x) < unsigned(width);
}

// The image, in the forward direction (lines are places), or for the gradient of weights (lines are
// taps).
template <typename C, typename Element, bool linesArePlaces> struct weir_seen {
  typedef Element element;
  typedef typename Element::stored stored;
  typedef weir_spot line_place, k_place;
  static constexpr bool alongK = !linesArePlaces;
  static constexpr int vector = 1;
  const stored *from;

  __device__ __forceinline__ void move(int) {}
  static __device__ __forceinline__ weir_spot place(unsigned i) {
    int image = i / (C::outHeight * C::outWidth), at = i % (C::outHeight * C::outWidth);
    int y = at / C::outWidth * C::strideY - C::paddingY;
    int x = at % C::outWidth * C::strideX - C::paddingX;
    return {image * (C::channels * C::height * C::width) + y * C::width + x,
            image < C::images ? y : weir_outside, x};
  }
  static __device__ __forceinline__ weir_spot tap(unsigned i) {
    int row = i / C::windowWidth, channel = unsigned(row) / C::windowHeight;
    int y = row - channel * C::windowHeight, x = i - row * C::windowWidth;
    return {(channel * C::height + y) * C::width + x, channel < C::channels ? y : weir_outside, x};
  }
  __device__ __forceinline__ weir_spot line(int i) const {
    return linesArePlaces ? place(i) : tap(i);
  }
  __device__ __forceinline__ weir_spot k(int i) const { return linesArePlaces ? tap(i) : place(i); }
  static __device__ __forceinline__ bool isThere(weir_spot a, weir_spot b) {
    return weir_is_inside<C::height, C::width>(a, b);
  }
  static __device__ __forceinline__ int at(weir_spot a, weir_spot b) { return a.offset + b.offset; }
};

// The places of the image at a stride's distance from each other, for its gradient.
template <typename C> struct weir_strided_places {
  static constexpr int rows = (C::height + C::strideY - 1) / C::strideY;
  static constexpr int columns = (C::width + C::strideX - 1) / C::strideX;
  static constexpr int tapRows = (C::windowHeight + C::strideY - 1) / C::strideY;
  static constexpr int tapColumns = (C::windowWidth + C::strideX - 1) / C::strideX;
};

// The cotangents of the result that those places get something from.
template <typename C, typename Element> struct weir_answers {
  typedef Element element;
  typedef typename Element::stored stored;
  typedef weir_spot line_place, k_place;
  typedef weir_strided_places<C> P;
  static constexpr bool alongK = false;
  static constexpr int vector = 1;
  const stored *from;
  int firstY = 0, firstX = 0;

  __device__ __forceinline__ void move(int batch) {
    firstY = (batch / C::strideX + C::paddingY) / C::strideY;
    firstX = (batch % C::strideX + C::paddingX) / C::strideX;
  }
  __device__ __forceinline__ weir_spot line(unsigned i) const {
    int image = i / (P::rows * P::columns), at = i % (P::rows * P::columns);
    int y = at / P::columns + firstY, x = at % P::columns + firstX;
    return {image * (C::filters * C::outHeight * C::outWidth) + y * C::outWidth + x,
            image < C::images ? y : weir_outside, x};
  }
  __device__ __forceinline__ weir_spot k(unsigned i) const {
    int row = i / P::tapColumns, filter = unsigned(row) / P::tapRows;
    int y = row - filter * P::tapRows, x = i - row * P::tapColumns;
    return {filter * (C::outHeight * C::outWidth) - (y * C::outWidth + x),
            filter < C::filters ? -y : weir_outside, -x};
  }
  static __device__ __forceinline__ bool isThere(weir_spot a, weir_spot b) {
    return weir_is_inside<C::outHeight, C::outWidth>(a, b);
  }
  static __device__ __forceinline__ int at(weir_spot a, weir_spot b) { return a.offset + b.offset; }
};

// The weights that they are multiplied by: lines are channels.
template <typename C, typename Element> struct weir_strided_taps {
  typedef Element element;
  typedef typename Element::stored stored;
  typedef int line_place, k_place;
  typedef weir_strided_places<C> P;
  // A window of one tap: channels lie side by side.
  static constexpr bool alongK = C::windowHeight * C::windowWidth > 1;
  static constexpr int vector = 1;
  const stored *from;
  int firstY = 0, firstX = 0;

  __device__ __forceinline__ void move(int batch) {
    firstY = (batch / C::strideX + C::paddingY) % C::strideY;
    firstX = (batch % C::strideX + C::paddingX) % C::strideX;
  }
  __device__ __forceinline__ int line(int channel) const {
    return channel < C::channels ? channel * (C::windowHeight * C::windowWidth) : -1;
  }
  __device__ __forceinline__ int k(unsigned i) const {
    int row = i / P::tapColumns, filter = unsigned(row) / P::tapRows;
    int y = (row - filter * P::tapRows) * C::strideY + firstY;
    int x = (i - row * P::tapColumns) * C::strideX + firstX;
    if (filter >= C::filters || y >= C::windowHeight || x >= C::windowWidth)
      return -1;
    return (filter * (C::channels * C::windowHeight) + y) * C::windowWidth + x;
  }
  static __device__ __forceinline__ bool isThere(int line, int k) { return (line | k) >= 0; }
  static __device__ __forceinline__ int at(int line, int k) { return line + k; }
};

// The image's gradient: rows are channels, columns are those places.
template <typename C, typename Element, int vectorLength> struct weir_strided_sink {
  typedef Element element;
  typedef typename Element::stored stored;
  typedef weir_strided_places<C> P;
  static constexpr int vector = vectorLength;
  stored *to;
  int firstY = 0, firstX = 0;

  __device__ __forceinline__ void move(int batch) {
    firstY = batch / C::strideX;
    firstX = batch % C::strideX;
  }
  __device__ __forceinline__ stored *at(int channel, unsigned i) const {
    int image = i / (P::rows * P::columns), at = i % (P::rows * P::columns);
    int y = at / P::columns * C::strideY + firstY, x = at % P::columns * C::strideX + firstX;
    if (channel >= C::channels || image >= C::images || y >= C::height || x >= C::width)
      return nullptr;
    return to + (((image * C::channels + channel) * C::height + y) * C::width + x);
  }
  __device__ __forceinline__ float finish(float x, int) const { return x; }
};

// [image, plane, place], where either places or planes are lines, and the others are k. Places are
// those of one image after the other. So is an image that a window of one pixel goes over.
template <typename Element, int images, int planes, int places, bool linesArePlaces,
          int vectorLength>
struct weir_planes {
  typedef Element element;
  typedef typename Element::stored stored;
  typedef int line_place, k_place;
  static constexpr bool alongK = !linesArePlaces;
  static constexpr int vector = vectorLength;
  const stored *from;

  __device__ __forceinline__ void move(int) {}
  static __device__ __forceinline__ int plane(int i) { return i < planes ? i * places : -1; }
  static __device__ __forceinline__ int place(unsigned i) {
    return i < images * places ? int(i / places * (planes * places) + i % places) : -1;
  }
  __device__ __forceinline__ int line(int i) const { return linesArePlaces ? place(i) : plane(i); }
  __device__ __forceinline__ int k(int i) const { return linesArePlaces ? plane(i) : place(i); }
  static __device__ __forceinline__ bool isThere(int line, int k) { return (line | k) >= 0; }
  static __device__ __forceinline__ int at(int line, int k) { return line + k; }
};
// Rows are planes, columns are places.
template <typename Element, int images, int planes, int places, int vectorLength>
struct weir_planes_sink {
  typedef Element element;
  typedef typename Element::stored stored;
  static constexpr int vector = vectorLength;
  stored *to;

  __device__ __forceinline__ void move(int) {}
  __device__ __forceinline__ stored *at(int plane, unsigned i) const {
    return plane < planes && i < images * places
               ? to + ((i / places * planes + plane) * places + i % places)
               : nullptr;
  }
  __device__ __forceinline__ float finish(float x, int) const { return x; }
};
