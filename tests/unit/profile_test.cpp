// The recorder with a clock that goes on by one whenever it is looked at, so every stretch between
// two calls or returns takes one.
#include "vm/profile/report.h"

#include <catch2/catch.hpp>

using profile::Bounds;
using profile::Recorder;

namespace {

uint64_t ticks = 0;
uint64_t tick() {
  return ++ticks;
}

/// A recorder of the functions `f` and `g` and the operator `add`.
struct Fixture {
  explicit Fixture(Bounds bounds = {}) : recorder(bounds, tick) {
    f = recorder.add({"f", "1:1", true});
    g = recorder.add({"g", "2:1", true});
    add = recorder.add({"a<b&\"c\"", "3:1", false});
  }
  Recorder recorder;
  uint32_t f, g, add;
};

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("time goes to the innermost call") {
  Fixture x;
  x.recorder.enter(x.f);
  x.recorder.enter(x.add);
  x.recorder.leave();
  x.recorder.leave();
  x.recorder.finish();
  const auto& totals = x.recorder.totals();
  CHECK(totals[x.f].calls == 1);
  CHECK(totals[x.f].own == 2);
  CHECK(totals[x.f].total == 3);
  CHECK(totals[x.add].own == 1);
  CHECK(totals[x.add].total == 1);
  // What passes outside of calls is nobody's.
  CHECK(x.recorder.time() == 3);
  REQUIRE(x.recorder.nodes().size() == 3);
  CHECK(x.recorder.nodes()[0].own == 0);
  CHECK(x.recorder.missingEvents() == 0);
}

TEST_CASE("memory is the most that a call held") {
  static int64_t bytes;
  Recorder recorder({}, tick, [] { return bytes; });
  uint32_t f = recorder.add({"f", "1:1", true});
  uint32_t add = recorder.add({"add", "2:1", false});
  uint32_t back = recorder.add({"add, way back", "2:1", false, true});
  CHECK(countOf(tableText(recorder), "memory") == 0);
  bytes = 10;
  recorder.enter(f);
  recorder.enter(add);
  bytes = 3'000'000;
  recorder.leave();
  bytes = 20;
  recorder.enter(back);
  recorder.leave();
  recorder.leave();
  CHECK(recorder.mostHeld() == 3'000'000);
  CHECK(recorder.mostHeldIn() == add);
  std::string table = tableText(recorder);
  CHECK(countOf(table, "memory: at most 3.000 MB of tensors and objects, in add at 2:1\n") == 1);
  CHECK(countOf(table, "way back: 0.000 ms, 20.0 %; all else: 0.000 ms\n") == 1);
}

TEST_CASE("a tail call ends the call before it") {
  Fixture x;
  x.recorder.enter(x.f);
  x.recorder.replace(x.g);
  x.recorder.replace(x.f);
  x.recorder.leave();
  x.recorder.finish();
  const auto& totals = x.recorder.totals();
  CHECK(totals[x.f].calls == 2);
  CHECK(totals[x.f].total == 2);
  CHECK(totals[x.g].total == 1);
  for (const profile::Node& node : x.recorder.nodes())
    CHECK(node.depth <= 1);
  CHECK(x.recorder.events().size() == 3);
}

TEST_CASE("a call inside of a call of the same function counts once in the total") {
  Fixture x;
  for (int i = 0; i < 3; ++i)
    x.recorder.enter(x.f);
  x.recorder.finish();
  CHECK(x.recorder.totals()[x.f].calls == 3);
  CHECK(x.recorder.totals()[x.f].own == 3);
  CHECK(x.recorder.totals()[x.f].total == 3);
}

TEST_CASE("a deep run takes a bounded tree and few events") {
  Fixture x({.depth = 5, .nodes = 100, .events = 100});
  for (int i = 0; i < 100'000; ++i)
    x.recorder.enter(i % 2 ? x.f : x.g);
  x.recorder.finish();
  CHECK(x.recorder.nodes().size() <= 7);
  CHECK(x.recorder.events().size() == 5);
  CHECK(x.recorder.missingEvents() == 100'000 - 5);
  uint64_t own = 0, calls = 0;
  for (const profile::Node& node : x.recorder.nodes()) {
    own += node.own;
    calls += node.calls;
  }
  CHECK(own == x.recorder.time());
  CHECK(calls == 100'000);
}

TEST_CASE("no run has more nodes and events than are kept") {
  Fixture x({.depth = 8, .nodes = 10, .events = 16});
  x.recorder.enter(x.f);
  for (uint32_t i = 0; i < 1000; ++i) {
    for (uint32_t bit = 0; bit < 6; ++bit)
      x.recorder.enter(i >> bit & 1 ? x.f : x.g);
    for (uint32_t bit = 0; bit < 6; ++bit)
      x.recorder.leave();
  }
  x.recorder.finish();
  CHECK(x.recorder.nodes().size() == 10);
  CHECK(x.recorder.events().size() <= 16);
  CHECK(x.recorder.events().size() + x.recorder.missingEvents() == 6001);
  uint64_t longest = 0;
  for (const profile::Event& event : x.recorder.events())
    longest = std::max(longest, event.duration);
  CHECK(longest == x.recorder.totals()[x.f].total);
}

TEST_CASE("pictures and traces escape names") {
  Fixture x;
  x.recorder.enter(x.f);
  x.recorder.enter(x.add);
  x.recorder.leave();
  x.recorder.finish();
  std::string picture = flameGraph(x.recorder, "<title>");
  CHECK(countOf(picture, "a&lt;b&amp;&quot;c&quot;") == 2);
  CHECK(countOf(picture, "&lt;title&gt;") == 1);
  CHECK(countOf(picture, "<title>") == 3);
  std::string trace = chromeTrace(x.recorder);
  CHECK(countOf(trace, R"("a<b&\"c\"")") == 1);
  CHECK(countOf(trace, R"("ph":"X")") == 2);
  std::string table = tableText(x.recorder);
  CHECK(countOf(table, "\n") == 4);
  CHECK(countOf(tableText(x.recorder, 1), "1 more\n") == 1);
}
