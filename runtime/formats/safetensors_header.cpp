// The JSON header of .safetensors. It is read as a stream of events, without a document in memory:
// HeaderEvents knows the only four places a value can be in, which also bounds the nesting.
#include "runtime/formats/safetensors.h"

#include "runtime/formats/quote.h"
#include "runtime/formats/safetensors_types.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace formats {

using runtime::Done;
using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

using Json = nlohmann::json;
using Entries = std::map<std::string, SafetensorsEntry>;

/// The events of nlohmann's parser, which fixes the names of the functions. Each returns false,
/// after setting `problem`, to stop the parser.
struct HeaderEvents {
  enum class Place { Outside, TopLevel, Metadata, Tensor, Shape, Offsets };

  Entries& entries;
  std::string problem = {};
  Place place = Place::Outside;
  std::string name = {};
  std::string field = {};
  SafetensorsEntry entry = {};
  bool hasDtype = false, hasShape = false, hasOffsets = false;
  std::vector<uint64_t> offsets = {};

  bool fail(std::string text) {
    problem = std::move(text);
    return false;
  }
  std::string where() const {
    if (place == Place::Outside)
      return "the header";
    if (place == Place::TopLevel)
      return fmt::format("field {} of the header", backquoted(name));
    if (place == Place::Metadata)
      return fmt::format("`{}`", safetensorsMetadata);
    return fmt::format("{} of tensor {}", backquoted(field), backquoted(name));
  }
  bool unexpected(std::string_view what) {
    return fail(fmt::format("{} in {} is not expected", what, where()));
  }

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a boolean"); }
  bool number_float(double, const std::string& text) {
    return unexpected("the number " + backquoted(text));
  }
  bool number_integer(int64_t value) { return unexpected(fmt::format("the number {}", value)); }
  bool binary(Json::binary_t&) { return unexpected("binary data"); }

  bool number_unsigned(uint64_t value) {
    if (place == Place::Offsets) {
      if (offsets.size() == 2)
        return fail(fmt::format("{} has more than two numbers", where()));
      offsets.push_back(value);
      return true;
    }
    if (place != Place::Shape)
      return unexpected(fmt::format("the number {}", value));
    if (value > uint64_t(INT64_MAX) || entry.shape.size() == largestRank)
      return fail(fmt::format("{} has an extent above 2^63 - 1 or more than {} of them", where(),
                              largestRank));
    entry.shape.push_back(int64_t(value));
    return true;
  }

  bool string(std::string& text) {
    if (place == Place::Metadata)
      return true;
    if (place != Place::Tensor || field != "dtype")
      return unexpected("the string " + backquoted(text));
    entry.dtypeName = std::move(text);
    return true;
  }

  bool start_object(size_t) {
    if (place == Place::Outside) {
      place = Place::TopLevel;
    } else if (place == Place::TopLevel && name == safetensorsMetadata) {
      place = Place::Metadata;
    } else if (place == Place::TopLevel) {
      place = Place::Tensor;
      entry = {};
      hasDtype = hasShape = hasOffsets = false;
    } else {
      return unexpected("an object");
    }
    return true;
  }

  bool key(std::string& text) {
    if (place == Place::TopLevel)
      name = std::move(text);
    if (place != Place::Tensor)
      return true;
    field = std::move(text);
    bool* seen = field == "dtype"          ? &hasDtype
                 : field == "shape"        ? &hasShape
                 : field == "data_offsets" ? &hasOffsets
                                           : nullptr;
    if (!seen)
      return fail(fmt::format("{} is not known", where()));
    if (std::exchange(*seen, true))
      return fail(fmt::format("{} is there twice", where()));
    return true;
  }

  bool end_object() {
    if (place == Place::TopLevel) {
      place = Place::Outside;
      return true;
    }
    if (place == Place::Tensor) {
      if (!hasDtype || !hasShape || !hasOffsets)
        return fail(
            fmt::format("tensor {} lacks `dtype`, `shape` or `data_offsets`", backquoted(name)));
      if (!entries.emplace(name, std::move(entry)).second)
        return fail(fmt::format("tensor {} is there twice", backquoted(name)));
    }
    place = Place::TopLevel;
    return true;
  }

  bool start_array(size_t) {
    if (place != Place::Tensor || field == "dtype")
      return unexpected("an array");
    place = field == "shape" ? Place::Shape : Place::Offsets;
    offsets.clear();
    return true;
  }

  bool end_array() {
    if (place == Place::Offsets) {
      if (offsets.size() != 2)
        return fail(fmt::format("{} has {} numbers instead of two", where(), offsets.size()));
      entry.begin = offsets[0];
      entry.end = offsets[1];
    }
    place = Place::Tensor;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) {
    return fail(fmt::format("the header is not JSON: it goes wrong at byte {}", position));
  }
};

Result<Done> checkEntry(const std::string& name, const SafetensorsEntry& entry, uint64_t dataSize) {
  if (entry.begin > entry.end || entry.end > dataSize)
    return Error{fmt::format("tensor {} lies from byte {} to {} of the data, which has {}",
                             backquoted(name), entry.begin, entry.end, dataSize)};
  auto dtype = findSafetensorsType(entry.dtypeName);
  if (!dtype)
    return Done{};
  if (auto checked = checkByteSize(*dtype, entry.shape, entry.end - entry.begin); !checked)
    return Error{fmt::format("tensor {}: {}", backquoted(name), checked.failure().message)};
  return Done{};
}

/// In the order of their ranges, each tensor begins where the one before ends.
Result<Done> checkCover(const Entries& entries, uint64_t dataSize) {
  std::vector<const Entries::value_type*> order;
  for (const auto& named : entries)
    order.push_back(&named);
  std::sort(order.begin(), order.end(), [](const auto* left, const auto* right) {
    return std::pair(left->second.begin, left->second.end) <
           std::pair(right->second.begin, right->second.end);
  });
  uint64_t position = 0;
  for (const auto* named : order) {
    if (named->second.begin != position)
      return Error{fmt::format("tensor {} begins at byte {} of the data, {} at byte {}",
                               backquoted(named->first), named->second.begin,
                               named->second.begin < position ? "inside the one before, which ends"
                                                              : "after a hole that begins",
                               position)};
    position = named->second.end;
  }
  if (position != dataSize)
    return Error{fmt::format("the tensors take {} bytes, but the data has {}", position, dataSize)};
  return Done{};
}

} // namespace

Result<Entries> parseSafetensorsHeader(std::string_view json, uint64_t dataSize) {
  return guarded([&]() -> Result<Entries> {
    if (!json.starts_with("{"))
      return Error{"the header does not begin with `{`"};
    Entries entries;
    HeaderEvents events{entries};
    if (!Json::sax_parse(json.begin(), json.end(), &events))
      return Error{events.problem.empty() ? "the header is not JSON" : events.problem};
    for (const auto& [name, entry] : entries)
      if (auto checked = checkEntry(name, entry, dataSize); !checked)
        return checked.failure();
    if (auto checked = checkCover(entries, dataSize); !checked)
      return checked.failure();
    return entries;
  });
}

} // namespace formats
