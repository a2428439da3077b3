//===- Dataset.h - A model's inputs and where their values come from ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Dataset binds each input of a model to an array or a stream. An array's first dimension counts
// rows and the others are the input's; all arrays have the same number of rows. A stream is a
// one-dimensional array of tokens for an integer input [rows, window]: each row is a window of it.
// All checks of shape, type and range happen while binding; what is too large to be scanned then is
// checked as it is read.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_DATASET_H
#define WEIR_RUNTIME_DATA_DATASET_H

#include "runtime/data/Array.h"
#include <utility>

namespace weir {

/// What a model says about an input (artifact::Port).
struct InputSpec {
  std::string name;
  Element element = Element::f32; ///< f32, i32, u8 or b8
  std::vector<int64_t> shape;     ///< rows first
  int64_t limit = 0;              ///< integers lie in [0, limit); 0: any
  std::string limitConfig;        ///< the config that sets it, or ""

  int64_t rows() const { return shape.front(); }
  int64_t rowElements() const;
  size_t rowBytes() const { return rowElements() * sizeOf(element); }
};

/// "--data input=location", where the location is [FORMAT:]PATH.
struct SourceSpec {
  std::string input, location;
};

/// Splits "name=[format:]path". Throws Failure(Exit::usage) naming `option`.
SourceSpec parseSource(const std::string &option, const std::string &text);

class Dataset {
public:
  /// Opens and checks the sources of `inputs`. `option` ("--data") is what messages call it. Texts
  /// are numbered by `vocabularies` where it has the input's. Throws Failure: Exit::usage for a
  /// name that is no input and an input without data, Exit::data for the rest.
  Dataset(std::vector<InputSpec> inputs, const std::vector<SourceSpec> &sources,
          const std::string &option, const Vocabularies &vocabularies = {});

  const std::vector<InputSpec> &inputs() const { return specs; }
  const Array &source(size_t input) const { return arrays[input]; }
  Vocabularies vocabularies() const;

  /// Tokens of a window of the streams; 0: the inputs are arrays.
  int64_t window() const { return windowSize; }

  /// Rows of the arrays, or tokens of the streams, in this part.
  int64_t units() const { return end - begin; }

  /// Rows, or consecutive windows, that cover this part.
  int64_t coveringRows() const;

  /// The part [first, last) of this part's units.
  Dataset part(int64_t first, int64_t last) const;

  /// The part to train on and the last `fraction` of the units, held out: the split is at
  /// floor(units * (1 - fraction)). Throws Failure(Exit::data) where the latter has no whole row or
  /// window.
  std::pair<Dataset, Dataset> split(double fraction) const;

  /// Throws Failure(Exit::data) where a step of `rows` rows cannot be read.
  void requireRows(int64_t rows) const;

  /// Writes one row of an input: the array's row `position`, or the window that begins at token
  /// `position`, of this part.
  void write(size_t input, int64_t position, std::byte *out) const;

  /// "the input 'x' has nan in row 17 of x.npy, at [17, 2]": the first value that is not finite of
  /// the arrays' row `position` of this part. Streams have none.
  std::optional<std::string> notFinite(int64_t position) const;

  /// Throws Failure(Exit::data) where a file was changed since it was opened: what write() gave
  /// since the last call is then not to be used.
  void requireIntact() const;

private:
  Dataset() = default;
  void bind(const InputSpec &spec, Array array);
  void checkRange(const InputSpec &spec, const Array &array) const;

  std::vector<InputSpec> specs;
  std::vector<Array> arrays; // as specs
  int64_t windowSize = 0, begin = 0, end = 0;
};

} // namespace weir

#endif
