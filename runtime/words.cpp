// Spellings hold what words are about: texts, element types, other words.
#include "runtime/words.h"

#include "runtime/short_names.h"

#include <algorithm>

namespace runtime {

namespace {

std::string filledText(std::string_view format, const std::vector<Words>& arguments,
                       Notation notation) {
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    std::string_view two = format.substr(i, 2);
    if (two == "{}")
      text += arguments.at(next++).in(notation);
    else
      text += format[i];
    i += two == "{}" || two == "{{" || two == "}}" ? 1 : 0;
  }
  return text;
}

} // namespace

Notation notationOf(std::string_view name, std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  bool hasHeader = text.starts_with("#[version") || text.starts_with("v0.0.");
  return name.ends_with(".baton") && !hasHeader ? Notation::Baton : Notation::Relay;
}

Words Words::settled() const {
  return spelling_ ? either(in(Notation::Relay), in(Notation::Baton)) : *this;
}

Words filled(std::string_view format, std::vector<Words> arguments) {
  return Words([format, arguments = std::move(arguments)](Notation notation) {
    return filledText(format, arguments, notation);
  });
}

Words joined(std::vector<Words> parts, std::string_view between) {
  return Words([parts = std::move(parts), between = std::string(between)](Notation notation) {
    std::string text;
    for (const Words& part : parts)
      text += (&part == parts.data() ? "" : between) + part.in(notation);
    return text;
  });
}

Words either(std::string relay, std::string baton) {
  return Words([relay = std::move(relay), baton = std::move(baton)](Notation notation) {
    return notation == Notation::Baton ? baton : relay;
  });
}

Words spelled(DType dtype) {
  return Words([dtype](Notation notation) {
    return notation == Notation::Baton ? shortDTypeName(dtype) : dtypeName(dtype);
  });
}

Words dtypeValue(DType dtype) {
  return Words([dtype](Notation notation) {
    return notation == Notation::Baton ? shortDTypeName(dtype) : "\"" + dtypeName(dtype) + "\"";
  });
}

std::string tensorText(DType dtype, std::string_view extents, Notation notation) {
  std::string element = spelled(dtype).in(notation);
  return notation == Notation::Baton ? fmt::format("{}[{}]", element, extents)
                                     : fmt::format("Tensor[({}), {}]", extents, element);
}

Words localName(std::string_view name) {
  return either("%" + std::string(name), std::string(name));
}

Words plainName(std::string_view name) {
  std::string dotted(name);
  std::ranges::replace(dotted, '/', '.');
  return either(std::string(name), std::move(dotted));
}

Words globalName(std::string_view name) {
  return either("@" + std::string(name), plainName(name).in(Notation::Baton));
}

} // namespace runtime
