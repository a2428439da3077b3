//===- Cluster.h - Devices, and what joins them ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a planner knows of machines that need not be there: docs/guides/planning.md says how they
// are described in files. Rates are in FLOPs and bytes a second, times in seconds, sizes in bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_MACHINES_CLUSTER_H
#define WEIR_PLANNER_MACHINES_CLUSTER_H

#include "support/mesh/MachineRates.h"
#include "support/mesh/Mesh.h"
#include "support/spec/Exchange.h"
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace weir::planner {

/// By the name of what is multiplied: an element's, or "tf32".
using RateOf = std::map<std::string, double>;

/// How fast products are: as fast as `rate` where they fill the device.
struct ProductRates {
  RateOf rate = {};
  int64_t units = 1; ///< that compute a tile each, at a time
  int64_t tileRows = 1, tileColumns = 1;
  double ramp = 0; ///< a tile's sums cost as if they had so many terms more
};

struct Device {
  std::string name = "";
  std::string target = "";  ///< for makeTarget
  int64_t memory = 0;       ///< that a run may take
  double bandwidth = 0;     ///< of its memory
  double launch = 0;        ///< that every action takes besides
  double hostBandwidth = 0; ///< to the host's memory, and from it
  double watts = 0;
  RateOf peak = {}; ///< by its data sheet: what utilization is a part of
  ProductRates products = {};
  double elementwise = 0, attention = 0,
         convolution = 0; ///< FLOPs a second of other kernels; 0: a part of what products have

  /// Of products that multiply what is named so, or f32's; of all that begin with f8, those of f8.
  double rateOf(const std::string &multiplied) const;
  /// The device as other parts of the compiler see it, where products multiply that.
  DeviceRates ratesFor(const std::string &multiplied) const {
    return {{rateOf(multiplied), bandwidth}, hostBandwidth, launch};
  }
};

/// Devices of one kind, one after the other in the order of ranks.
struct DeviceGroup {
  Device device = {};
  int64_t count = 0;
  std::string file = ""; ///< that describes them; "": the cluster's own
};

/// Links that each device of a domain has to all others in it.
struct LinkLevel {
  std::string name = "";
  int64_t devices = 0;  ///< of a domain
  double bandwidth = 0; ///< that each device can send and get at a time
  double latency = 0;
  bool overlaps = true; ///< devices compute on while they exchange; not where cores copy themselves
};

struct Cluster {
  std::string name = "";
  std::vector<DeviceGroup> groups = {};
  std::vector<LinkLevel> levels = {}; ///< the innermost first; the last has all devices
  double price = 0;                   ///< of a device for an hour
  std::string currency = "";

  int64_t devices() const;
  const Device &deviceOf(int64_t rank) const;
  /// Whether each of the first `ranks` devices has so many bytes.
  bool hasRoom(int64_t ranks, int64_t bytes) const;
};

/// Ranks that exchange something: `members` of them, each `stride` behind the one before, from one
/// with whose number no domain begins between.
struct Members {
  int64_t members = 1, stride = 1;
};

/// Those along an axis.
Members membersOf(const Mesh &mesh, unsigned axis);

/// Whether devices compute on while these exchange.
bool overlaps(const Cluster &cluster, Members who);

/// How long an exchange takes by the one of these that fits it.
double secondsFor(const Cluster &cluster, Members who, const spec::Exchange &exchange);

/// How long it takes until each has what all others have, `received` bytes: passed on around a
/// ring, which runs through each domain once, on as many links as it has members there.
double secondsToGather(const Cluster &cluster, Members who, double received);

/// How long it takes until each has what each other has for it, `received` bytes in all: every pair
/// exchanges its own.
double secondsToExchange(const Cluster &cluster, Members who, double received);

/// How long so many bytes take from each to the next one.
double secondsToShift(const Cluster &cluster, Members who, double bytes);

/// How long they take from one rank to another.
double secondsToSend(const Cluster &cluster, int64_t from, int64_t to, double bytes);

/// Reads a cluster's file. Throws Failure(Exit::usage) that says where, what was expected and what
/// was found.
Cluster readCluster(const std::string &path);

/// Such a file's text: `source` says where its figures are from, prices are not in it.
std::string textOf(const Cluster &cluster, const std::string &source);

/// So many of a known device, joined as `link` says.
Cluster clusterOf(const std::string &device, int64_t count, const LinkLevel &link);

/// A description that comes with Weir: its name, and the text of its file.
struct KnownDevice {
  const char *name, *text;
};
std::span<const KnownDevice> knownDevices();

} // namespace weir::planner

#endif
