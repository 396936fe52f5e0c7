// Loops that convert, copy, gather and scatter.
#include "lower/elements/kernels.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>

namespace lower {

namespace {

/// A float as an integer: toward zero, saturating, NaN to 0.
template <typename To, typename From>
To saturate(From value) {
  constexpr From low = From(std::numeric_limits<To>::min());
  constexpr From pastHigh = From(std::numeric_limits<To>::max() / 2 + 1) * 2;
  if (value >= pastHigh)
    return std::numeric_limits<To>::max();
  if (value > low)
    return To(value);
  return value != value ? To(0) : std::numeric_limits<To>::min();
}

template <typename To, typename From>
To convert(const From& stored) {
  auto value = widen(stored);
  if constexpr (std::is_same_v<To, Bit>)
    return Bit{uint8_t(value != 0)};
  else if constexpr (std::is_integral_v<To>) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      return saturate<To>(value);
    else
      return To(value);
  } else if constexpr (sizeof(To) == 2)
    return To(runtime::floatRoundedToOdd(double(value)));
  else
    return To(value);
}

template <typename From, typename To>
void castLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<To*>(out);
  auto* a = reinterpret_cast<const From*>(in[0]);
  for (size_t j = 0; j < count; ++j)
    result[j] = convert<To>(a[j]);
}

template <typename Bits>
void copyLoop(std::byte* out, const std::byte* const* in, size_t count) {
  std::memmove(out, in[0], count * sizeof(Bits));
}

template <typename Bits>
void splatLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<Bits*>(out);
  Bits value = *reinterpret_cast<const Bits*>(in[0]);
  for (size_t j = 0; j < count; ++j)
    result[j] = value;
}

template <typename Bits>
void stridedLoop(std::byte* out, const std::byte* base, int64_t stride, size_t count) {
  auto* result = reinterpret_cast<Bits*>(out);
  auto* from = reinterpret_cast<const Bits*>(base);
  if (stride == 1 && count != 0)
    std::memcpy(result, from, count * sizeof(Bits));
  else
    for (size_t j = 0; j < count; ++j)
      result[j] = from[int64_t(j) * stride];
}

template <typename Bits>
void gatherLoop(std::byte* out, const std::byte* base, const int64_t* offsets,
                const std::byte* fill, size_t count) {
  auto* result = reinterpret_cast<Bits*>(out);
  auto* from = reinterpret_cast<const Bits*>(base);
  Bits other = *reinterpret_cast<const Bits*>(fill);
  for (size_t j = 0; j < count; ++j)
    result[j] = offsets[j] < 0 ? other : from[offsets[j]];
}

template <typename Bits>
void placeLoop(std::byte* out, const int64_t* offsets, const std::byte* in, size_t count) {
  auto* result = reinterpret_cast<Bits*>(out);
  auto* from = reinterpret_cast<const Bits*>(in);
  for (size_t j = 0; j < count; ++j)
    result[offsets[j]] = from[j];
}

template <typename Bits>
void scatterLoop(std::byte* out, int64_t stride, const std::byte* in, size_t count) {
  auto* result = reinterpret_cast<Bits*>(out);
  auto* from = reinterpret_cast<const Bits*>(in);
  if (stride == 1 && count != 0)
    std::memcpy(result, from, count * sizeof(Bits));
  else
    for (size_t j = 0; j < count; ++j)
      result[int64_t(j) * stride] = from[j];
}

/// Calls `visit` with the tag of the unsigned type that has the size of an own element.
template <typename Visit>
auto withBits(Element element, Visit&& visit) {
  switch (elementBytes(element)) {
  case 1:
    return visit(ElementTag<uint8_t>{});
  case 2:
    return visit(ElementTag<uint16_t>{});
  case 4:
    return visit(ElementTag<uint32_t>{});
  default:
    return visit(ElementTag<uint64_t>{});
  }
}

/// The loop of a conversion that is no copy. To whole numbers without a sign it is that to those
/// with one, unless it comes from a float. From float32 those to types without loops of their own
/// go by way of float64.
template <typename From, typename To>
ApplyKernel castOf() {
  constexpr bool isRare = sizeof(To) < 4 || std::is_same_v<To, uint32_t>;
  if constexpr (std::is_same_v<From, To> ||
                (std::is_same_v<From, float> && std::is_integral_v<To> && isRare))
    return nullptr;
  else if constexpr (std::is_floating_point_v<From> || !std::is_integral_v<To>)
    return castLoop<From, To>;
  else if constexpr (std::is_signed_v<From> && sizeof(From) != sizeof(To))
    return castLoop<From, std::make_signed_t<To>>;
  return nullptr;
}

template <typename From>
ApplyKernel castFrom(Element to) {
  return withOwnElement(
      to, [](auto tag) -> ApplyKernel { return castOf<From, typename decltype(tag)::type>(); });
}

/// Whether the bits stay the same.
bool isCopy(Element from, Element to) {
  bool areWhole = !isFloat(from) && !isFloat(to) && to != Element::Bool;
  return from == to || (areWhole && elementBytes(from) == elementBytes(to));
}

/// The loop to the wide type.
ApplyKernel widenKernel(Element from) {
  switch (from) {
  case Element::Int8:
    return castLoop<int8_t, int32_t>;
  case Element::Int16:
    return castLoop<int16_t, int32_t>;
  case Element::Bool:
  case Element::UInt8:
    return castLoop<uint8_t, int32_t>;
  case Element::UInt16:
    return castLoop<uint16_t, int32_t>;
  case Element::UInt32:
    return castLoop<uint32_t, int64_t>;
  case Element::Float16:
    return castLoop<runtime::Half, float>;
  default:
    return castLoop<runtime::BHalf, float>;
  }
}

} // namespace

ApplyKernel castKernel(Element from, Element to) {
  if (isCopy(from, to))
    return withBits(to,
                    [](auto tag) -> ApplyKernel { return copyLoop<typename decltype(tag)::type>; });
  switch (from) {
  case Element::Int32:
    return castFrom<int32_t>(to);
  case Element::UInt64:
    if (isFloat(to))
      return castFrom<uint64_t>(to);
    [[fallthrough]];
  case Element::Int64:
    return castFrom<int64_t>(to);
  case Element::Float32:
    return castFrom<float>(to);
  case Element::Float64:
    return castFrom<double>(to);
  case Element::Bool:
    if (to == Element::Float32)
      return castLoop<uint8_t, float>;
    [[fallthrough]];
  default:
    return to == castStep(from, to) ? widenKernel(from) : nullptr;
  }
}

Element castStep(Element from, Element to) {
  if (from == Element::Bool)
    return to == Element::Float32 || isCopy(from, to) ? to : Element::Int32;
  if (from == Element::Float32 && !isFloat(to) && wideElement(to) != to)
    return Element::Float64;
  return isCopy(from, to) || wideElement(from) == from ? to : wideElement(from);
}

ApplyKernel splatKernel(Element element) {
  return withBits(element,
                  [](auto tag) -> ApplyKernel { return splatLoop<typename decltype(tag)::type>; });
}

StridedKernel stridedKernel(Element element) {
  return withBits(
      element, [](auto tag) -> StridedKernel { return stridedLoop<typename decltype(tag)::type>; });
}

GatherKernel gatherKernel(Element element) {
  return withBits(
      element, [](auto tag) -> GatherKernel { return gatherLoop<typename decltype(tag)::type>; });
}

PlaceKernel placeKernel(Element element) {
  return withBits(element,
                  [](auto tag) -> PlaceKernel { return placeLoop<typename decltype(tag)::type>; });
}

ScatterKernel scatterKernel(Element element) {
  return withBits(
      element, [](auto tag) -> ScatterKernel { return scatterLoop<typename decltype(tag)::type>; });
}

} // namespace lower
