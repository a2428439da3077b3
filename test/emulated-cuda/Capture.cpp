//===- Capture.cpp - Streams, events, and graphs captured from them -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Capture.h"
#include "test/emulated-cuda/Driver.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Options.h"
#include <algorithm>

namespace weir::emulated {

using namespace cuda;

static Stream legacy[mostDevices];
static std::vector<Stream *> created[mostDevices];

Stream &legacyStream() {
  int device = currentDevice();
  legacy[device].device = device;
  return legacy[device];
}

std::vector<Stream *> &allStreams() { return created[currentDevice()]; }

void forgetStream(Stream &stream) { std::erase(created[stream.device], &stream); }

void forgetStreams() {
  for (int device = 0; device < mostDevices; ++device) {
    legacy[device] = {};
    created[device].clear();
  }
}

static void invalidate(Capture &capture, const std::string &why) {
  capture.isInvalid = true;
  note("a capture became invalid: " + why);
}

/// What comes next on the stream comes after these.
static std::vector<NodeRef> before(Stream &stream) {
  std::vector<NodeRef> after = stream.frontier;
  auto add = [&](const Stream &other) {
    after.insert(after.end(), other.frontier.begin(), other.frontier.end());
  };
  if (&stream != &legacyStream()) {
    if (stream.isBlocking)
      add(legacyStream());
    return after;
  }
  for (Stream *other : allStreams())
    if (other->isBlocking)
      add(*other);
  return after;
}

/// The legacy stream waits for blocking streams, also for one that is captured, which it cannot.
static CUresult checkLegacy(Stream &stream) {
  if (&stream != &legacyStream())
    return CUDA_SUCCESS;
  for (Stream *other : allStreams())
    if (other->isBlocking && other->capture) {
      invalidate(*other->capture, "the legacy stream was used");
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
  return CUDA_SUCCESS;
}

static void advance(Stream &stream, std::shared_ptr<const Work> work) {
  NodeRef node = enqueue(std::move(work), before(stream));
  stream.frontier = {node};
}

CUresult submit(Stream &stream, std::shared_ptr<const Work> work) {
  if (CUresult refused = checkLegacy(stream))
    return refused;
  if (!stream.capture) {
    advance(stream, std::move(work));
    return CUDA_SUCCESS;
  }
  Capture &capture = *stream.capture;
  if (capture.isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  capture.graph.items.push_back({std::move(work), stream.capturedFrontier});
  stream.capturedFrontier = {int(capture.graph.items.size()) - 1};
  return CUDA_SUCCESS;
}

CUresult record(Event &event, Stream &stream) {
  if (CUresult refused = checkLegacy(stream))
    return refused;
  event.node.reset();
  event.capture.reset();
  if (stream.capture) {
    if (stream.capture->isInvalid)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    event.capture = stream.capture;
    event.captured = stream.capturedFrontier;
    return CUDA_SUCCESS;
  }
  advance(stream, nullptr);
  event.node = stream.frontier[0];
  return CUDA_SUCCESS;
}

CUresult wait(Stream &stream, const Event &event) {
  if (CUresult refused = checkLegacy(stream))
    return refused;
  if (stream.capture && stream.capture->isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!event.capture) {
    if (stream.capture && event.node) {
      invalidate(*stream.capture, "it waits for an event that was recorded outside");
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (event.node)
      stream.frontier.push_back(event.node);
    return CUDA_SUCCESS;
  }
  if (event.capture->hasEnded) {
    note("a stream waits for an event that was recorded in a capture that has ended");
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (event.capture->isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (&stream == &legacyStream())
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream.capture && stream.capture != event.capture) {
    invalidate(*stream.capture, "it waits for an event of another capture");
    invalidate(*event.capture, "another capture waits for an event of it");
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (!stream.capture) {
    stream.capture = event.capture;
    stream.capturedFrontier.clear();
    event.capture->streams.push_back(&stream);
  }
  for (int item : event.captured)
    if (std::find(stream.capturedFrontier.begin(), stream.capturedFrontier.end(), item) ==
        stream.capturedFrontier.end())
      stream.capturedFrontier.push_back(item);
  return CUDA_SUCCESS;
}

CUresult beginCapture(Stream &stream, int mode) {
  if (mode < 0 || mode > 2)
    return CUDA_ERROR_INVALID_VALUE;
  if (&stream == &legacyStream())
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream.capture) {
    note("a capture begins on a stream that is captured already");
    return CUDA_ERROR_INVALID_VALUE;
  }
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->mode = mode;
  stream.capture->thread = std::this_thread::get_id();
  stream.capture->streams = {&stream};
  stream.capturedFrontier.clear();
  return CUDA_SUCCESS;
}

/// Whether every stream that joined is waited for, directly or not, by the origin.
static bool isJoined(const Capture &capture) {
  std::vector<bool> reached(capture.graph.items.size());
  for (int item : capture.origin->capturedFrontier)
    reached[size_t(item)] = true;
  for (size_t i = reached.size(); i-- > 0;)
    for (int before : capture.graph.items[i].after)
      if (reached[i])
        reached[size_t(before)] = true;
  for (const Stream *stream : capture.streams)
    for (int item : stream->capturedFrontier)
      if (!reached[size_t(item)])
        return false;
  return true;
}

CUresult endCapture(Stream &stream, std::unique_ptr<Graph> &graph) {
  std::shared_ptr<Capture> capture = stream.capture;
  if (!capture) {
    note("a capture ends on a stream that is not captured");
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (capture->mode != 2 && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  if (capture->origin != &stream) {
    invalidate(*capture, "it was ended on a stream on which it did not begin");
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  bool joined = isJoined(*capture);
  for (Stream *member : capture->streams) {
    member->capture.reset();
    member->capturedFrontier.clear();
  }
  capture->hasEnded = true;
  if (capture->isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!joined) {
    note("a capture ended with a stream that was not joined");
    return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  }
  graph = std::make_unique<Graph>(std::move(capture->graph));
  return CUDA_SUCCESS;
}

CUresult launchGraph(GraphExecutable &executable, Stream &stream) {
  if (CUresult refused = checkLegacy(stream))
    return refused;
  if (stream.capture) {
    invalidate(*stream.capture, "it launches a graph, which the emulation does not capture");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  appendToReport("graph of " + std::to_string(executable.graph.items.size()));
  std::vector<NodeRef> first = before(stream), nodes;
  if (executable.last)
    first.push_back(executable.last);
  // A fork that the host or the graph names is one; the launch itself is one node to its stream.
  std::vector<bool> isFollowed(executable.graph.items.size());
  for (const Graph::Item &item : executable.graph.items) {
    std::vector<NodeRef> after;
    for (int before : item.after) {
      after.push_back(nodes[size_t(before)]);
      isFollowed[size_t(before)] = true;
    }
    nodes.push_back(enqueue(item.work, item.after.empty() ? first : after));
  }
  std::vector<NodeRef> ends;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!isFollowed[i])
      ends.push_back(nodes[i]);
  executable.last = enqueue(nullptr, ends.empty() ? first : ends);
  stream.frontier = {executable.last};
  return CUDA_SUCCESS;
}

static CUresult forbid(const std::vector<Stream *> &streams, const std::string &why,
                       bool anyThread) {
  CUresult result = CUDA_SUCCESS;
  for (Stream *stream : streams) {
    if (!stream->capture)
      continue;
    Capture &capture = *stream->capture;
    bool mine =
        capture.mode == 0 || (capture.mode == 1 && capture.thread == std::this_thread::get_id());
    if (!anyThread && !mine)
      continue;
    if (!capture.isInvalid)
      invalidate(capture, why);
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult forbidInCapture() {
  return forbid(allStreams(), "its thread called what a capture forbids", false);
}

CUresult forbidInAnyCapture() {
  return forbid(allStreams(), "the host waits for everything", true);
}

CUresult forbidInCaptureOf(Stream &stream) {
  if (CUresult refused = checkLegacy(stream))
    return refused;
  return forbid({&stream}, "the host waits for its stream", true);
}

CUresult forbidIfCaptured(const Event &event) {
  if (!event.capture)
    return CUDA_SUCCESS;
  if (!event.capture->hasEnded)
    invalidate(*event.capture, "the host waits for an event of it");
  return CUDA_ERROR_CAPTURED_EVENT;
}

} // namespace weir::emulated
