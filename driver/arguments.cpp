// All problems are collected, so that one run shows everything that is missing.
#include "driver/arguments.h"

#include "driver/values/files.h"
#include "driver/values/input_fit.h"
#include "driver/values/input_literal.h"
#include "driver/values/literal.h"
#include "driver/values/random_values.h"
#include "lang/source/edit_distance.h"
#include "lang/source/utf8.h"
#include "runtime/formats/file.h"
#include "runtime/formats/load.h"
#include "runtime/formats/quote.h"
#include "runtime/natives/random.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace driver {

using runtime::Done;
using runtime::Error;
using runtime::Result;

namespace {

constexpr size_t mostListed = 30;
constexpr uint64_t largestTextFile = uint64_t(1) << 36;

/// What a word says of a parameter: `NAME=REST`, the name with a `%` or without.
struct NamedInput {
  std::string_view name;
  std::string_view rest;
};

std::optional<NamedInput> takeName(std::string_view word) {
  size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size())
    return std::nullopt;
  std::string_view name = word.substr(0, equals);
  if (name.starts_with('%'))
    name.remove_prefix(1);
  return NamedInput{name, word.substr(equals + 1)};
}

/// The seed in `seed:42`.
std::optional<uint64_t> seedOf(std::string_view text) {
  constexpr std::string_view word = "seed:";
  uint64_t seed = 0;
  if (!text.starts_with(word))
    return std::nullopt;
  text.remove_prefix(word.size());
  auto end = std::from_chars(text.data(), text.data() + text.size(), seed);
  bool isGood = end.ec == std::errc() && end.ptr == text.data() + text.size();
  return isGood ? std::optional(seed) : std::nullopt;
}

/// Which parameters get values.
struct Choice {
  /// By position; empty for all.
  std::vector<bool> wanted = {};
  FixedInputs fixed = {};

  bool isWanted(size_t i) const { return wanted.empty() || wanted[i]; }

  bool isFixed(std::string_view name) const {
    return std::ranges::find(fixed.parameters, name, &FixedInput::name) != fixed.parameters.end();
  }

  /// Whether `NAME=SIZE` is of a size that is fixed.
  bool isOfFixed(std::string_view dim) const {
    return std::ranges::find(fixed.sizes, dim.substr(0, dim.find('='))) != fixed.sizes.end();
  }

  /// The position of a parameter among those that the text has.
  size_t writtenPosition(size_t i) const {
    for (const FixedInput& each : fixed.parameters)
      i += each.position <= i;
    return i;
  }
};

/// Gives each parameter its value.
class ArgumentReader {
public:
  ArgumentReader(const lang::Global& entry, const Program& program, lang::TypeContext& types,
                 const RunOptions& options, Choice choice)
      : entry_(entry), parameters_(entry.function->parameters), program_(program),
        typing_(program.typing), types_(types), options_(options), choice_(std::move(choice)),
        given_(parameters_.size(), false), fit_(entry, program.typing, program.notation()) {
    made_.values.resize(parameters_.size());
  }

  Arguments read() {
    for (const std::string& dim : options_.dims)
      if (auto good = choice_.isOfFixed(dim) ? Done{} : fit_.giveSize(dim); !good)
        made_.problems.push_back(good.failure().message);
    for (const std::string& text : options_.texts)
      readText(text);
    for (const std::string& input : options_.inputs)
      if (!isWholeFile(input))
        readInput(input);
    for (auto& [i, parts] : parts_)
      buildParts(i, std::move(parts));
    const std::vector<bool> named = given_;
    for (const std::string& input : options_.inputs)
      if (isWholeFile(input))
        readFile(input, named);
    giveKeys();
    if (auto misfit = fit_.finish())
      made_.problems.push_back(*std::move(misfit));
    fillRest();
    made_.notes.insert(made_.notes.begin(), fit_.notes().begin(), fit_.notes().end());
    for (const lang::Dim* name : fit_.names())
      if (auto size = fit_.sizeOf(name))
        made_.sizes.emplace_back(name, *size);
    return std::move(made_);
  }

private:
  template <typename... Args>
  void fail(fmt::format_string<Args...> text, Args&&... args) {
    made_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  lang::Notation notation() const { return fit_.notation(); }
  std::string entryName() const {
    return runtime::globalName(lang::printable(entry_.name)).in(notation());
  }

  static bool isKey(const lang::Type& type) {
    return type.isTensor() && type.dtype == runtime::UInt64 && type.shape.size() == 1 &&
           type.shape[0]->isConstant() && type.shape[0]->value == natives::randomKey(0).shape()[0];
  }

  /// Gives keys to the parameters that are some, and are not given otherwise.
  void giveKeys() {
    if (!options_.keySeed)
      return;
    uint64_t next = *options_.keySeed;
    bool hasKeys = !choice_.wanted.empty() || !choice_.fixed.parameters.empty();
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!isKey(*typing_.of(*parameters_[i])))
        continue;
      hasKeys = true;
      if (given_[i])
        continue;
      given_[i] = true;
      made_.values[i] = runtime::tensorValue(natives::randomKey(next++));
    }
    if (!hasKeys)
      fail("no parameter of `{}` is a key, `{}`, for --seed; --random fills parameters of any type",
           entryName(), runtime::tensorText(runtime::UInt64, "10", notation()));
  }

  void fillRest() {
    std::vector<const lang::Var*> missing;
    std::optional<RandomValues> random;
    if (options_.seed)
      random.emplace(*options_.seed, fit_, types_);
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (given_[i] || !choice_.isWanted(i))
        continue;
      if (!random) {
        missing.push_back(parameters_[i]);
        continue;
      }
      auto value =
          random->fill(choice_.writtenPosition(i), *parameters_[i], typing_.of(*parameters_[i]));
      if (value)
        made_.values[i] = *std::move(value);
      else
        made_.problems.push_back(value.failure().message);
    }
    if (!missing.empty())
      fail("`{}` needs inputs that are not given:{}\ngive each with --input NAME=PATH or "
           "NAME=LITERAL, or fill them with --random SEED",
           entryName(), listed(missing));
  }

  /// `%x` and its type, a line each.
  std::string listed(const std::vector<const lang::Var*>& parameters) const {
    std::string text;
    for (size_t i = 0; i < parameters.size() && i < mostListed; ++i)
      text += fmt::format("\n  `{}: {}`", fit_.parameterName(*parameters[i]),
                          lang::typeText(typing_.of(*parameters[i]), notation()));
    if (parameters.size() > mostListed)
      text += fmt::format("\n  and {} more", parameters.size() - mostListed);
    return text;
  }

  static bool isWholeFile(std::string_view input) {
    return input.find('=') == std::string_view::npos && formats::isKeyedFile(input);
  }

  std::optional<size_t> findParameter(std::string_view name) const {
    auto found = std::ranges::find(parameters_, name, &lang::Var::name);
    return found == parameters_.end() ? std::nullopt
                                      : std::optional(size_t(found - parameters_.begin()));
  }

  /// The position of a parameter that is given now; nothing after a report, or where the input is
  /// passed over.
  std::optional<size_t> take(std::string_view name) {
    auto i = findParameter(name);
    if (!i && choice_.isFixed(name))
      return std::nullopt;
    if (!i)
      failUnknown(name);
    else if (given_[*i])
      fail("the input {} is given twice", formats::backquoted(name));
    if (!i || given_[*i])
      return std::nullopt;
    given_[*i] = true;
    return i;
  }

  void readInput(std::string_view input) {
    auto word = takeName(input);
    if (!word)
      return fail(
          "--input takes NAME=PATH, NAME=LITERAL, NAME=seed:NUMBER, or a .npz, .safetensors "
          "or .json file alone, and this is {}",
          formats::backquoted(input));
    if (readPart(*word))
      return;
    if (auto i = take(word->name))
      build(*i, [&](ValueBuilder& builder, const AcceptTensor& accept) {
        return readWord(*word, builder, accept);
      });
  }

  /// Keeps what is given for a part of a parameter, `net.0=...`; false if it is none.
  bool readPart(const NamedInput& word) {
    size_t dot = word.name.find('.');
    if (dot == std::string_view::npos || findParameter(word.name))
      return false;
    auto i = findParameter(word.name.substr(0, dot));
    if (!i || !isStructured(*typing_.of(*parameters_[*i])))
      return false;
    bool isFirst = !given_[*i] || parts_.contains(*i);
    given_[*i] = true;
    if (!isFirst || !parts_[*i].emplace(word.name, word).second)
      fail("the input {} is given twice", formats::backquoted(word.name));
    return true;
  }

  /// Gives a parameter its parts, which stand in tuples and data types with one constructor.
  void buildParts(size_t i, std::map<std::string_view, NamedInput> parts) {
    build(i, [&](ValueBuilder& builder, const AcceptTensor& accept) -> Result<Done> {
      do {
        const lang::Type& type = *builder.wanted();
        auto part = parts.find(builder.path());
        if (part != parts.end()) {
          if (auto good = readWord(part->second, builder, accept); !good)
            return good;
          parts.erase(part);
        } else if (type.isTuple()) {
          builder.openTuple();
        } else if (type.kind == lang::TypeKind::Data && isRecord(*type.definition)) {
          builder.open(*type.definition->constructors[0]);
        } else {
          return Error{fmt::format("`{}`, which is `{}`, is not given", builder.path(),
                                   builder.wantedText())};
        }
        builder.closeFull();
      } while (builder.depth() > 0);
      if (parts.empty())
        return Done{};
      return Error{fmt::format("there is no part {}", formats::backquoted(parts.begin()->first))};
    });
  }

  /// Reads what stands behind a name.
  Result<Done> readWord(const NamedInput& word, ValueBuilder& builder, const AcceptTensor& accept) {
    auto location = formats::splitKey(word.rest);
    const lang::Type& type = *builder.wanted();
    if (auto seed = seedOf(word.rest))
      return put(natives::randomKey(*seed), builder, accept);
    if (isValueFile(location.path)) {
      auto file = openValueFile(location.path);
      if (!file)
        return file.failure();
      return readKey(location.path, **file,
                     location.key ? *location.key : (*file)->keyFor(word.name, builder), builder,
                     accept);
    }
    if (isStructured(type) || looksLiteral(withoutComments(word.rest)))
      return readValueLiteral(word.rest, builder, accept);
    return Error{fmt::format("{} is no literal of `{}` and no file: the name ends in none of .npy, "
                             ".npz and .safetensors, nor in .json or .txt",
                             formats::backquoted(word.rest), builder.wantedText())};
  }

  /// The bytes of a file.
  void readText(std::string_view text) {
    auto word = takeName(text);
    if (!word)
      return fail("--text takes NAME=PATH, and this is {}", formats::backquoted(text));
    auto i = take(word->name);
    if (!i)
      return;
    build(*i, [&](ValueBuilder& builder, const AcceptTensor& accept) -> Result<Done> {
      const std::string path(word->rest);
      auto bytes = path == "-" ? formats::readStandardInput(largestTextFile)
                               : formats::readFile(path, largestTextFile);
      if (!bytes)
        return bytes.failure();
      runtime::Tensor tensor(runtime::UInt8, {int64_t(bytes->size())});
      std::memcpy(tensor.bytes(), bytes->data(), bytes->size());
      return put(std::move(tensor), builder, accept);
    });
  }

  static Result<Done> put(runtime::Tensor tensor, ValueBuilder& builder,
                          const AcceptTensor& accept) {
    auto accepted = accept(builder, std::move(tensor));
    if (!accepted)
      return accepted.failure();
    builder.put(runtime::tensorValue(*std::move(accepted)));
    return Done{};
  }

  /// Gives a parameter what `read` makes of a builder.
  template <typename Read>
  void build(size_t i, Read&& read) {
    if (!choice_.isWanted(i))
      return;
    const lang::Var& parameter = *parameters_[i];
    ValueBuilder builder(typing_.of(parameter), types_, lang::printable(parameter.name),
                         notation());
    isMisfit_ = false;
    auto good = runtime::guarded([&] {
      return read(builder, [&](const ValueBuilder& part, runtime::Tensor tensor) {
        auto fitting = fit_.fit(i, part, std::move(tensor));
        isMisfit_ = !fitting;
        return fitting;
      });
    });
    if (good)
      made_.values[i] = builder.value();
    else if (isMisfit_)
      made_.problems.push_back(good.failure().message);
    else
      fail("the input `{}`: {}", fit_.parameterName(parameter), good.failure().message);
  }

  /// Reads what a file has at a key. What does not fit says so itself; other errors get the path.
  Result<Done> readKey(const std::string& path, ValueFile& file, const std::string& key,
                       ValueBuilder& builder, const AcceptTensor& accept) {
    const lang::Type* type = builder.wanted();
    const std::string part = builder.path(), name = formats::backquoted(path);
    auto good = runtime::guarded([&] { return file.read(key, builder, accept); });
    bool isNamed = good || isMisfit_ || good.failure().message.find(name) != std::string::npos;
    if (!isNamed)
      return Error{fmt::format("{}: {}", name, good.failure().message)};
    std::vector<std::string> rest = good ? file.unread(key) : std::vector<std::string>();
    if (rest.empty())
      return good;
    if (!key.empty())
      return Error{fmt::format("{} has {}, which has no place in `{}`", name,
                               formats::backquoted(rest[0]), lang::typeText(type, notation()))};
    made_.notes.push_back(
        fmt::format("not every tensor in {} has a place in `{}`; of the others, {}", name, part,
                    formats::listedKeys(rest)));
    return good;
  }

  /// The key of a parameter: its name, or one that differs in letters that no name can have. Of
  /// what is no tensor it may be the beginning of keys.
  static std::optional<std::string> keyFor(std::string_view name, bool hasParts,
                                           const std::vector<std::string>& keys) {
    auto isLetter = [](char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '/'; };
    auto reads = [&](std::string_view key) {
      return std::ranges::equal(key, name, [&](char letter, char own) {
        return letter == own || (own == '_' && !isLetter(letter));
      });
    };
    std::optional<std::string> similar;
    for (const std::string& key : keys) {
      bool goesOn = hasParts && key.size() > name.size() && key[name.size()] == '.';
      std::string_view own = goesOn ? std::string_view(key).substr(0, name.size()) : key;
      if (own == name)
        return std::string(own);
      if (!similar && reads(own))
        similar = std::string(own);
    }
    return similar;
  }

  /// Fills parameters by the keys of a file, except those that are given by `named` inputs.
  void readFile(const std::string& path, const std::vector<bool>& named) {
    auto file = openValueFile(path);
    if (!file)
      return fail("{}", file.failure().message);
    std::vector<std::string> rest = (*file)->keys();
    const std::vector<std::string> keys = rest;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      auto key = keyFor(parameters_[i]->name, isStructured(*typing_.of(*parameters_[i])), keys);
      if (!key)
        continue;
      std::erase_if(rest, [&](const std::string& each) {
        return each == *key || each.starts_with(*key + '.');
      });
      if (named[i])
        continue;
      if (given_[i])
        fail("the input {} is given twice", formats::backquoted(parameters_[i]->name));
      else
        build(i, [&](ValueBuilder& builder, const AcceptTensor& accept) {
          return readKey(path, **file, *key, builder, accept);
        });
      given_[i] = true;
    }
    for (const FixedInput& fixed : choice_.fixed.parameters)
      if (auto key = keyFor(fixed.name, /*hasParts=*/false, keys))
        std::erase(rest, *key);
    if (rest.size() == keys.size())
      return fail("{} has no tensor for a parameter of `{}`; {}{}{}", formats::backquoted(path),
                  entryName(), formats::listedKeys(keys), ownParameters(), partsAdvice(path));
    if (!rest.empty())
      made_.notes.push_back(fmt::format("not every tensor in {} has a parameter; of the others, {}",
                                        formats::backquoted(path), formats::listedKeys(rest)));
  }

  /// How a file is given that has the parts of one parameter.
  std::string partsAdvice(const std::string& path) const {
    auto structured = std::ranges::find_if(parameters_, [&](const lang::Var* parameter) {
      return isStructured(*typing_.of(*parameter));
    });
    return structured == parameters_.end()
               ? ""
               : fmt::format("\nif these are parts of one parameter, give {}",
                             formats::backquoted(fmt::format(
                                 "--input {}={}", lang::printable((*structured)->name), path)));
  }

  std::string ownParameters() const {
    return parameters_.empty()
               ? fmt::format("; `{}` has no parameters", entryName())
               : "; its parameters are:" + listed({parameters_.begin(), parameters_.end()});
  }

  void failUnknown(std::string_view name) {
    std::vector<std::string_view> names;
    for (const lang::Var* parameter : parameters_)
      names.push_back(parameter->name);
    auto similar = lang::similarNames(name, names);
    std::string advice;
    // Any name of one letter is one change away from any other.
    if (!similar.empty() && name.size() > 1)
      advice = fmt::format("; did you mean {}?", formats::backquoted(similar[0]));
    else
      advice = ownParameters();
    fail("{} is no parameter of `{}`{}", formats::backquoted(name), entryName(), advice);
  }

  const lang::Global& entry_;
  std::span<const lang::Var* const> parameters_;
  const Program& program_;
  const lang::Typing& typing_;
  lang::TypeContext& types_;
  const RunOptions& options_;
  const Choice choice_;
  Arguments made_;
  std::vector<bool> given_;
  /// What is given for parts of parameters, by paths.
  std::map<size_t, std::map<std::string_view, NamedInput>> parts_;
  InputFit fit_;
  /// Whether what went wrong last was a tensor that does not fit.
  bool isMisfit_ = false;
};

} // namespace

bool givesInputs(const RunOptions& options) {
  return !options.inputs.empty() || !options.texts.empty() || !options.dims.empty() ||
         options.seed.has_value() || options.keySeed.has_value();
}

Arguments readArguments(const lang::Global& entry, const Program& program, lang::TypeContext& types,
                        const RunOptions& options, const FixedInputs& fixed) {
  return ArgumentReader(entry, program, types, options, {.fixed = fixed}).read();
}

Arguments readSome(const lang::Global& entry, const Program& program, lang::TypeContext& types,
                   const RunOptions& options, std::vector<bool> wanted) {
  return ArgumentReader(entry, program, types, options, {.wanted = std::move(wanted)}).read();
}

} // namespace driver
