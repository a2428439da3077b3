//===- MachineRates.h - How fast machines are -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types that describe how fast a machine is, and the table of every figure that the compiler
// assumes. Passes, code generators, the planner and the tools read both from here, and state no
// figures of their own. Units are FLOP/s, bytes/s and seconds.
//
// `weir plan` describes its machines in more detail (planner/machines/Cluster.h). Their figures are
// data with sources, in planner/machines/devices/*.toml, and become these types in
// Device::ratesFor and ratesOn.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_MESH_MACHINERATES_H
#define WEIR_SUPPORT_MESH_MACHINERATES_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// How fast a device computes and accesses its memory. A kernel takes the longer of both.
struct Rates {
  double flopsPerSecond = 0, bytesPerSecond = 0;

  bool operator==(const Rates &) const = default;

  double secondsOf(double flops, double bytes) const {
    return std::max(flops / flopsPerSecond, bytes / bytesPerSecond);
  }

  /// "400TFLOP/s,3.3TB/s". Returns nothing for other texts.
  static std::optional<Rates> parse(std::string_view text);
};

/// How fast one device is, with its host.
struct DeviceRates {
  Rates kernels;                 ///< of generated kernels and library calls
  double hostBytesPerSecond = 0; ///< between the memories of device and host, in one direction
  double launchSeconds = 0;      ///< overhead of a kernel, a call or a copy

  bool operator==(const DeviceRates &) const = default;

  double transferSeconds(double bytes) const { return bytes / hostBytesPerSecond; }
};

/// How fast a rank communicates. It sends and receives at the same time, each at this bandwidth.
struct Link {
  double bytesPerSecond = 0;
  double latency = 0; ///< seconds of a collective in addition to its bytes

  bool operator==(const Link &) const = default;

  /// The time of a collective in which a rank sends and receives so many bytes.
  double secondsOf(uint64_t sent, uint64_t received) const {
    return latency + double(std::max(sent, received)) / bytesPerSecond;
  }

  /// "50GB/s" or "50GB/s,5us": units as of memory sizes, per second, and s, ms, us or ns. Without a
  /// latency it is zero. Returns nothing for other texts.
  static std::optional<Link> parse(std::string_view text);

  /// As parse() takes it.
  std::string text() const;
};

/// How fast ranks communicate along one axis of the mesh. The bandwidths are the bytes/s that a
/// rank receives from the others in an all-gather and in an all-to-all.
struct AxisRates {
  double gather = 0, exchange = 0;
  double latency = 0; ///< seconds of a collective in addition to its bytes

  bool operator==(const AxisRates &) const = default;
};

/// Every figure that Weir assumes of a machine. Where parts of the compiler assume different
/// figures for the same machine, each figure has a name that says what it is for.
namespace machines {

// Targets. The compiler compares kernels, schedules, recomputation and offload by these
// (codegen/Target.h), and `weir inspect --time` assumes them. They depend on the target alone, so
// artifacts do not depend on the machine that compiles.

/// One core with vectors of 256 bits, with its share of the memory's bandwidth. Estimates. Host and
/// device are one memory: a copy reads and writes each byte, at 8 GB/s.
/// planner/machines/devices/cpu.toml has what `weir probe` measured on a core of an AMD EPYC: 108
/// GFLOP/s and 30 GB/s, with caches.
inline constexpr DeviceRates cpu256{.kernels = {60e9, 8e9}, .hostBytesPerSecond = 4e9};
/// The same with vectors of 512 bits. An estimate.
inline constexpr DeviceRates cpu512{.kernels = {100e9, 8e9}, .hostBytesPerSecond = 4e9};

// A core whose vector code has its operands in the caches, in nanoseconds: the sizes of tasks, and
// so the code of CPU kernels, depend on these (codegen/cpu). Estimates. For cpu256 and cpu512,
// operands come from memory.

/// A byte of an operand or result: 80 GB/s.
inline constexpr double cachedByte = 0.0125;
/// A simple operation on an element: 67 GFLOP/s.
inline constexpr double cachedOperation = 0.015;
/// An element of a task with a partial sum, whatever it computes.
inline constexpr double summedElement = 0.25;

// GPUs. FLOP/s are those that products of bf16 reach within a step. Host bandwidth is PCIe 4.0, or
// 5.0 from sm_90 on. The files a100-40, a100-80, h100 and h200 in planner/machines/devices have the
// figures of single cards, for `weir plan`: those of the best product, and of copies.

/// `--target cuda`: the GPU is known only when the artifact is loaded. Between an A100 and an H100.
inline constexpr DeviceRates cudaAny{.kernels = {500e12, 2.8e12}, .hostBytesPerSecond = 25e9};
/// A100. Derived from its data sheet (312 TFLOP/s; 1.555 or 2.039 TB/s). `weir plan` assumes 271
/// TFLOP/s, and 1.4 or 1.84 TB/s.
inline constexpr DeviceRates cudaSm80{.kernels = {220e12, 1.6e12}, .hostBytesPerSecond = 25e9};
/// H100. Measured within steps (docs/benchmarks.md). `weir plan` assumes 769 TFLOP/s, 3.029 TB/s
/// (4.33 TB/s for an H200) and 54 GB/s.
inline constexpr DeviceRates cudaSm90{.kernels = {700e12, 2.9e12}, .hostBytesPerSecond = 55e9};
/// B200. Derived from its data sheet.
inline constexpr DeviceRates cudaSm100{.kernels = {1200e12, 6.5e12}, .hostBytesPerSecond = 50e9};

// What a strategy has where neither the user nor a plan file says it.

/// `link`, by which collectives are scheduled; `weir inspect --time` assumes it too. A network
/// between hosts. An estimate.
inline constexpr Link defaultLink{.bytesPerSecond = 10e9, .latency = 20e-6};
/// `rates`, by which shardings are chosen: a GPU of 2023 with NVLink between all ranks. Rounded
/// from the data sheet of the H100: 989 TFLOP/s of bf16, 3.35 TB/s, 450 GB/s in each direction. The
/// latency is an estimate. They are not those of the target: shardings do not depend on it.
inline constexpr Rates defaultRank{1e15, 3.3e12};
inline constexpr AxisRates defaultAxis{.gather = 450e9, .exchange = 450e9, .latency = 5e-6};

// What `--mesh auto` assumes of this machine, without `--cluster` (tools/weir/commands).

/// Between ranks that are cores of one machine: they copy through memory. An estimate.
inline constexpr Link betweenCores{.bytesPerSecond = 6e9, .latency = 30e-6};
/// Between the GPUs of a node: what collectives reach over the NVLink of an A100, of 300 GB/s in
/// each direction. An estimate; docs/guides/planning.md has it as an example.
inline constexpr Link betweenGpus{.bytesPerSecond = 235e9, .latency = 3e-6};
/// How much of a core's speed is left when the number of cores doubles, where several are one
/// device. An estimate.
inline constexpr double leftOfDoubledCores = 0.9;

// Rates of a described device that its file does not state, as parts of its product rates
// (planner/machines/DevicePrices.h). Estimates.
inline constexpr double elementwiseOfProducts = 0.5; ///< of f32 products
inline constexpr double attentionOfProducts = 0.5;   ///< of products of the strategy's precision
inline constexpr double convolutionOfProducts = 1;   ///< likewise

// Balance: how many f32 operations a device executes while its memory moves a byte.

/// 10 on an A100, 13 on a Zen 5, 20 on an H100. For choices that have to be the same
/// for all targets: where pipeline stages are cut, and which activations they save.
inline constexpr double flopsPerByte = 10;
/// The cost of ops, in FLOPs, by which pipeline stages are balanced.
constexpr double stageCost(double flops, double bytes) { return flops + flopsPerByte * bytes; }
/// Of a core. Orders kernels and calls by their cost in `weir inspect`.
inline constexpr uint64_t flopsPerByteOfCore = 8;

/// The reference interpreter on a core of 2020: seconds of a floating-point operation,
/// and of an element that it reads or writes (verify/Cost.cpp).
inline constexpr double interpretedOperation = 0.25e-9, interpretedElement = 3e-9;

} // namespace machines

/// How fast the ranks of a mesh are: what shardings are chosen by. Strategies and plan files have
/// it as a text, so that a program is sharded alike where only the plan file is known.
struct MeshRates {
  Rates rank = machines::defaultRank;
  std::map<std::string, AxisRates, std::less<>> axes = {}; ///< others: machines::defaultAxis

  bool operator==(const MeshRates &) const = default;

  AxisRates along(std::string_view axis) const {
    auto found = axes.find(axis);
    return found == axes.end() ? machines::defaultAxis : found->second;
  }

  /// "271TFLOP/s,1840GB/s,tp=235GB/s,235GB/s,5us": Rates, and for each axis its AxisRates. "" is
  /// the default. Returns nothing for other texts.
  static std::optional<MeshRates> parse(std::string_view text);
  /// "", or why parse() does not take the text.
  static std::string wrong(std::string_view text);

  /// As parse() takes it, rounded.
  std::string text() const;
};

} // namespace weir

#endif
