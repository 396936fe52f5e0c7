// Levels by their names; of other processors than x86-64 there is one.
#include "codegen/llvm/processor.h"

#include "codegen/image/cpuid.h"
#include "codegen/image/levels.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace codegen {

using runtime::Error;
using runtime::Result;

bool Processor::has(std::string_view feature) const {
  std::string text = "," + features + ",";
  return text.find(fmt::format(",{},", feature)) != text.npos;
}

uint32_t Processor::vectorBytes() const {
  if (triple.starts_with("x86_64"))
    return has("+avx512f") && has("+avx512vl") ? 64 : has("+avx2") && has("+fma") ? 32 : 16;
  return 16;
}

uint32_t Processor::registers() const {
  if (!triple.starts_with("x86_64"))
    return 24;
  return vectorBytes() < 64 ? 16 : 32;
}

loops::WholeProducts Processor::wholeProducts() const {
  using enum loops::WholeProducts;
  if (!triple.starts_with("x86_64") || (vectorBytes() == 64 && !has("+avx512bw")))
    return None;
  bool hasQuads = has(vectorBytes() == 64 ? "+avx512vnni" : "+avxvnni");
  return hasQuads && vectorBytes() > 16 ? Quads : Pairs;
}

#if defined(__x86_64__)

std::string hostIdentity() {
  std::string text = fmt::format("x86-64 {:x}", keptRegisters());
  constexpr std::pair<unsigned, unsigned> told[] = {
      {0, 0}, {1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
  for (auto [number, part] : told) {
    Leaf leaf(number, part);
    // Leaf 1 also says on which of the processors this thread is.
    unsigned b = number == 1 ? 0 : leaf.b;
    text += fmt::format(" {:x} {:x} {:x} {:x}", leaf.a, b, leaf.c, leaf.d);
  }
  return text;
}

#else

std::string hostIdentity() {
  return "";
}

#endif

Result<Processor> targetNamed(std::string_view name) {
  if (name == armTarget || name == "aarch64-linux-gnu")
    return Processor{"aarch64-unknown-linux-gnu", "generic", "+neon"};
  auto parts = levelsOf(name);
  if (parts.empty())
    return Error{fmt::format("there is no processor `{}`; there are `x86-64`, `x86-64-v2`, "
                             "`x86-64-v3`, `x86-64-v4` and `aarch64`",
                             name)};
  Processor named{"x86_64-unknown-linux-gnu", std::string(name), ""};
  for (const Level& level : parts)
    named.features += (named.features.empty() ? "" : ",") + std::string(level.features);
  return named;
}

Result<Processor> processorNamed(std::string_view name) {
  auto named = targetNamed(name);
  if (!named)
    return named;
  auto parts = levelsOf(name);
  auto lacking = std::ranges::find_if_not(parts, [](const Level& level) { return isHere(level); });
  if (parts.empty())
    return Error{fmt::format("this machine is no `{}`", name)};
  if (lacking != parts.end())
    return Error{
        fmt::format("this machine is no `{}`: it lacks something of `{}`", name, lacking->name)};
  return named;
}

} // namespace codegen
