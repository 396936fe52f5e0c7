// What is no letter or digit of ASCII becomes `_`.
#include "driver/products/interface.h"

#include "runtime/formats/quote.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace driver {

using executable::Entry;
using executable::Port;
using runtime::Checked;
using runtime::Problem;
using Kind = checks::Declared::Kind;

namespace {

std::string identifier(std::string_view name) {
  std::string made;
  for (char letter : name) {
    bool isGood = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                  (letter >= '0' && letter <= '9');
    made += isGood ? letter : '_';
  }
  return made;
}

/// Behind a letter, so that it is no word of C, and with numbers where names would be equal.
std::vector<std::string> parameterNames(const Entry& entry) {
  std::vector<std::string> names;
  std::set<std::string> taken{"result", "results"};
  for (const Port& port : entry.parameters) {
    std::string name = "in_" + identifier(port.name);
    for (size_t number = 2; !taken.insert(name).second; ++number)
      name = fmt::format("in_{}_{}", identifier(port.name), number);
    names.push_back(name);
  }
  return names;
}

std::string signatureOf(const Entry& entry) {
  std::vector<std::string> parameters;
  for (const Port& port : entry.parameters)
    parameters.push_back(fmt::format("%{}: {}", port.name, port.type));
  // A comment of C ends at the first `*/`.
  std::string text =
      fmt::format("@{}({}) -> {}", entry.name, fmt::join(parameters, ", "), entry.result.type);
  for (size_t at = text.find("*/"); at != text.npos; at = text.find("*/", at))
    text.insert(at + 1, " ");
  return text;
}

/// How many tensors a result is; nothing where it is something else.
std::optional<size_t> tensorsIn(const checks::Declared& result) {
  if (result.kind == Kind::Tensor)
    return 1;
  bool areTensors = result.kind == Kind::Tuple && !result.parts.empty() &&
                    std::ranges::all_of(result.parts, [](const checks::Declared& part) {
                      return part.kind == Kind::Tensor;
                    });
  return areTensors ? std::optional(result.parts.size()) : std::nullopt;
}

Checked<ProductFunction> functionOf(const Entry& entry, const std::string& product) {
  for (const Port& port : entry.parameters)
    if (port.declared.kind != Kind::Tensor)
      return Problem{fmt::format("`@{}` has no C function: its parameter `%{}` is {}, and only "
                                 "tensors go in",
                                 entry.name, port.name, formats::backquoted(port.type))};
  auto results = tensorsIn(entry.result.declared);
  if (!results)
    return Problem{fmt::format("`@{}` has no C function: its result is {}, and only tensors and "
                               "tuples of them come out",
                               entry.name, formats::backquoted(entry.result.type))};
  return ProductFunction{fmt::format("{}_{}", product, identifier(entry.name)), signatureOf(entry),
                         parameterNames(entry), *results};
}

std::string declarationOf(const ProductFunction& function) {
  std::string words;
  for (const std::string& name : function.parameters)
    words += fmt::format("DLManagedTensor* {}, ", name);
  words += function.results == 1 ? "DLManagedTensor** result"
                                 : fmt::format("DLManagedTensor* results[{}]", function.results);
  return fmt::format("/* {} */\nbaton_error* {}({});\n", function.signature, function.symbol,
                     words);
}

constexpr const char* headerForm =
    R"(/* The functions of a compiled program; written by `baton compile`.
 *
 * Tensors go in and out by DLPack, and lie in the processor's memory. A function takes over the
 * tensors that it is given, each of which is given once: their deleters are called when nobody needs
 * them any more. It gives tensors that are the caller's, who calls their deleters; their elements
 * must not be written, since they may lie in what went in. When it fails it gives an error, and what
 * went in is still the caller's; else null. Any thread may call. */
#ifndef {0}_PRODUCT_H
#define {0}_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* As in DLPack's own header, version 0.8, and in Baton's, which may be included before this one. */
#if !defined(DLPACK_DLPACK_H_) && !defined(BATON_DLPACK)
#define BATON_DLPACK
typedef struct {{
  int32_t device_type; /* 1: the processor's memory */
  int32_t device_id;
}} DLDevice;
typedef struct {{
  uint8_t code; /* 0 int, 1 uint, 2 float, 3 handle, 4 bfloat, 6 bool */
  uint8_t bits;
  uint16_t lanes;
}} DLDataType;
typedef struct {{
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
}} DLTensor;
typedef struct DLManagedTensor {{
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
}} DLManagedTensor;
#endif

typedef struct baton_error baton_error;
/* A sentence, with the notes that belong to it on lines of their own. */
const char* baton_error_message(const baton_error* error);
/* Where in its text the program stood; null behind the last place. */
const char* baton_error_place(const baton_error* error, size_t index);
void baton_error_free(baton_error* error);

{1}
#ifdef __cplusplus
}}
#endif

#endif
)";

} // namespace

Checked<std::vector<ProductFunction>> productFunctions(const executable::Executable& made,
                                                       const std::string& product) {
  std::vector<ProductFunction> functions;
  std::set<std::string> taken;
  for (const Entry& entry : made.entries) {
    auto function = functionOf(entry, product);
    if (!function)
      return function.failure();
    if (!taken.insert(function->symbol).second)
      return Problem{fmt::format("two functions would be called `{}` in C", function->symbol)};
    functions.push_back(*std::move(function));
  }
  return functions;
}

std::string productName(const std::string& path) {
  std::string name = identifier(std::filesystem::path(path).stem().string());
  // Names of the library begin so.
  if (name.empty() || name == "baton")
    return "baton_product";
  bool isDigit = name[0] >= '0' && name[0] <= '9';
  return isDigit ? "_" + name : name;
}

std::string headerText(const std::string& product, const std::vector<ProductFunction>& functions) {
  std::string declarations;
  for (const ProductFunction& function : functions)
    declarations += declarationOf(function) + "\n";
  std::string guard = product;
  std::ranges::transform(guard, guard.begin(),
                         [](unsigned char letter) { return char(std::toupper(letter)); });
  return fmt::format(headerForm, guard, declarations);
}

} // namespace driver
