//===- Recognize.cpp - Files of formats that are not read -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Recognize.h"
#include <cstdint>
#include <string_view>

namespace weir {
namespace {

using namespace std::string_view_literals;

std::string_view charactersOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The name of the first file in a zip archive ("4.3.7 Local file header" of APPNOTE.TXT), or "".
std::string_view firstInZip(std::string_view text) {
  constexpr size_t header = 30, length = 26;
  if (text.size() < header)
    return "";
  size_t size = static_cast<unsigned char>(text[length]) |
                static_cast<size_t>(static_cast<unsigned char>(text[length + 1])) << 8;
  return text.substr(header, size);
}

bool isZip(std::string_view text) { return text.starts_with("PK\3\4"sv); }

bool isNpz(std::string_view text) { return isZip(text) && firstInZip(text).ends_with(".npy"); }

/// torch.save writes ARCHIVE/data.pkl first, or ARCHIVE/.format_version and the like.
bool isTorchZip(std::string_view text) {
  if (!isZip(text))
    return false;
  std::string_view first = firstInZip(text);
  for (std::string_view name : {"/data.pkl"sv, "/.format_version"sv, "/version"sv, "/byteorder"sv,
                                "/constants.pkl"sv, "/.storage_alignment"sv})
    if (first.ends_with(name))
      return true;
  return false;
}

/// Protocol 2 to 5, as pickle.dump and old versions of torch.save write it: a first operation, and
/// STOP at the end. (Tokens of two bytes may begin with any two.)
bool isPickle(std::string_view text) {
  return text.size() > 3 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5 &&
         std::string_view("}](c\x8a\x95").find(text[2]) != text.npos && text.back() == '.';
}

bool isGzip(std::string_view text) {
  return text.starts_with("\x1f\x8b\x08"sv) &&
         (text.size() == 3 || static_cast<unsigned char>(text[3]) < 0x20);
}

bool isBzip(std::string_view text) {
  return text.starts_with("BZh"sv) && text.size() > 4 && text.substr(4).starts_with("1AY&SY"sv);
}

/// A version below 65536 follows.
bool isGguf(std::string_view text) {
  return text.starts_with("GGUF"sv) && text.size() > 7 && text[6] == '\0' && text[7] == '\0';
}

bool isParquet(std::string_view text) {
  return text.starts_with("PAR1"sv) && text.ends_with("PAR1"sv);
}

/// Eight bytes of length, then a JSON header that is no longer than the file.
bool isTensors(std::string_view text) {
  if (text.size() < 10 || text[8] != '{')
    return false;
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(text[i]);
  return length >= 2 && length <= text.size() - 8;
}

constexpr char torchWeights[] =
    "convert it to safetensors in Python: safetensors.torch.save_file(torch.load(\"IN\", "
    "map_location=\"cpu\", weights_only=True), \"OUT.safetensors\")";
constexpr char torchData[] = "save each tensor in Python: numpy.save(\"OUT.npy\", "
                             "torch.load(\"IN\").numpy())";

struct KnownFile {
  bool (*is)(std::string_view text);
  ForeignFile file;
};

/// Whether the text begins with what the parameter is; for formats that have a magic number.
template <char... magic> bool begins(std::string_view text) {
  constexpr char wanted[] = {magic...};
  return text.starts_with(std::string_view(wanted, sizeof wanted));
}

constexpr KnownFile knownFiles[] = {
    {isNpz,
     {"is a .npz file with several arrays",
      "save each in Python: numpy.save(\"OUT.npy\", "
      "numpy.load(\"IN.npz\")[\"NAME\"])",
      "convert it to safetensors in Python: "
      "safetensors.numpy.save_file(dict(numpy.load(\"IN.npz\")), \"OUT.safetensors\")"}},
    {isTorchZip, {"is a torch.save file", torchData, torchWeights}},
    {isPickle,
     {"is a Python pickle, as old versions of torch.save write", torchData, torchWeights}},
    {isZip, {"is a zip archive", "unpack it first: unzip IN.zip", nullptr}},
    {isGzip, {"is compressed with gzip", "run gunzip on it first", nullptr}},
    {isBzip, {"is compressed with bzip2", "run bunzip2 on it first", nullptr}},
    {begins<'\xfd', '7', 'z', 'X', 'Z', '\0'>,
     {"is compressed with xz", "run unxz on it first", nullptr}},
    {begins<'\x28', '\xb5', '\x2f', '\xfd'>,
     {"is compressed with zstd", "run unzstd on it first", nullptr}},
    {isTensors,
     {"is a safetensors file", "it holds weights, which --init reads; save data as .npy", nullptr}},
    {isGguf,
     {"is a GGUF file", "it holds weights of llama.cpp; save data as .npy",
      "use the safetensors file from which it was converted"}},
    {begins<'\x89', 'H', 'D', 'F'>,
     {"is an HDF5 file",
      "save each array in Python: numpy.save(\"OUT.npy\", "
      "h5py.File(\"IN\")[\"NAME\"][:])",
      "convert it to safetensors in Python: safetensors.numpy.save_file"}},
    {isParquet,
     {"is a Parquet file",
      "save each column in Python: numpy.save(\"OUT.npy\", "
      "pandas.read_parquet(\"IN\")[\"NAME\"].to_numpy())",
      nullptr}},
    {begins<'A', 'R', 'R', 'O', 'W', '1', '\0', '\0'>,
     {"is an Arrow file", "save each column in Python: numpy.save(\"OUT.npy\", …)", nullptr}},
    {begins<'\x89', 'P', 'N', 'G'>,
     {"is a PNG image", "save all images as one array, [rows, …], with numpy.save", nullptr}},
    {begins<'\xff', '\xd8', '\xff'>,
     {"is a JPEG image", "save all images as one array, [rows, …], with numpy.save", nullptr}},
    {begins<'%', 'P', 'D', 'F'>, {"is a PDF file", "convert it to text first: pdftotext", nullptr}},
    {begins<'W', 'E', 'I', 'R', 'X', '\0'>,
     {"is an artifact of weir compile", "give the data", nullptr}},
};

} // namespace

bool isSafeTensors(std::span<const std::byte> bytes) { return isTensors(charactersOf(bytes)); }

const ForeignFile *foreignFile(std::span<const std::byte> bytes) {
  std::string_view text = charactersOf(bytes);
  for (const KnownFile &row : knownFiles)
    if (row.is(text))
      return &row.file;
  return nullptr;
}

} // namespace weir
