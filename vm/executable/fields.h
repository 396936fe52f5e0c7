// What stands in a file, struct by struct, for writing and reading, with the names that people see.
// A change here, or of an instruction, makes files of another version.
#pragma once

#include "vm/executable/archive.h"
#include "vm/executable/executable.h"
#include "vm/executable/strip_fields.h"

namespace executable {

// Enumerators, in their order.

template <>
inline constexpr auto namesOf<runtime::DTypeCode> =
    std::to_array<std::string_view>({"int", "uint", "float", "handle", "bfloat"});
template <>
inline constexpr auto namesOf<vm::Hold> = std::to_array<std::string_view>({"scalar", "owned",
                                                                           "borrowed"});
template <>
inline constexpr auto namesOf<vm::LayoutKind> = std::to_array<std::string_view>(
    {"tuple", "data", "closure", "maker", "operator", "cell", "boxed"});
template <>
inline constexpr auto namesOf<vm::SiteKind> =
    std::to_array<std::string_view>({"language", "show", "arguments", "outerSizes", "value",
                                     "result", "fields", "unmatched", "deliver", "unbox"});
template <>
inline constexpr auto namesOf<checks::SizeKind> =
    std::to_array<std::string_view>({"number", "open", "name", "sum", "product", "quotient",
                                     "broadcast", "least", "greatest", "scaled"});
template <>
inline constexpr auto
    namesOf<checks::Declared::Kind> = std::to_array<std::string_view>({"other", "tensor", "tuple"});
template <>
inline constexpr auto namesOf<Form::Kind> = std::to_array<std::string_view>({"other", "tensor",
                                                                             "tuple", "data"});

// runtime/

template <typename Archive>
void fields(Archive& archive, runtime::DType& dtype) {
  archive("code", dtype.code, "bits", dtype.bits, "lanes", dtype.lanes);
}
template <typename Archive>
void fields(Archive& archive, runtime::SourceRange& range) {
  archive("begin", range.begin, "end", range.end);
}

// tensor/

/// By expression_table.h.
void fields(Writer& writer, tensor::TensorFunction& function);
void fields(Reader& reader, tensor::TensorFunction& function);

// checks/

template <typename Archive>
void fields(Archive& archive, checks::SizeTerm& term) {
  archive("size", term.size, "coefficient", term.coefficient);
}
template <typename Archive>
void fields(Archive& archive, checks::Size& size) {
  archive("kind", size.kind, "number", size.number, "terms", size.terms, "text", size.text);
}
template <typename Archive>
void fields(Archive& archive, checks::Shapes::Equal& equal) {
  archive("left", equal.left, "right", equal.right);
}
template <typename Archive>
void fields(Archive& archive, checks::Shapes::Bound& bound) {
  archive("size", bound.size, "least", bound.least, "divisor", bound.divisor);
}
template <typename Archive>
void fields(Archive& archive, checks::Shapes& shapes) {
  archive("sizes", shapes.sizes, "operands", shapes.operands, "results", shapes.results, "equal",
          shapes.equal, "bounds", shapes.bounds);
}
template <typename Archive>
void fields(Archive& archive, checks::Declared& declared) {
  archive("kind", declared.kind, "dtype", declared.dtype, "shape", declared.shape, "parts",
          declared.parts, "text", declared.text);
}
template <typename Archive>
void fields(Archive& archive, checks::Parameter& parameter) {
  archive("position", parameter.position, "type", parameter.type, "isDeclared",
          parameter.isDeclared, "name", parameter.name, "range", parameter.range);
}
template <typename Archive>
void fields(Archive& archive, checks::Need& need) {
  archive("size", need.size, "least", need.least, "divisor", need.divisor, "op", need.op, "range",
          need.range);
}
template <typename Archive>
void fields(Archive& archive, checks::FunctionCheck& check) {
  archive("name", check.name, "parameters", check.parameters, "result", check.result,
          "isResultDeclared", check.isResultDeclared, "outer", check.outer, "needs", check.needs,
          "keepsSizes", check.keepsSizes);
}
template <typename Archive>
void fields(Archive& archive, checks::ValueCheck& check) {
  archive("type", check.type, "isDeclared", check.isDeclared, "name", check.name, "range",
          check.range, "function", check.function);
}
template <typename Archive>
void fields(Archive& archive, checks::FieldsCheck& check) {
  archive("constructor", check.constructor, "fields", check.fields);
}
template <typename Archive>
void fields(Archive& archive, checks::Tables& tables) {
  archive("sizes", tables.sizes, "functions", tables.functions, "values", tables.values, "fields",
          tables.fields);
}
template <typename Archive>
void fields(Archive& archive, checks::CalledFrom& from) {
  archive("range", from.range, "arguments", from.arguments);
}

// vm/

template <typename Archive>
void fields(Archive& archive, vm::Word& word) {
  archive.implied(word.op, word.a, word.b, word.c);
}
template <typename Archive>
void fields(Archive& archive, vm::Rep& rep) {
  archive("hold", rep.hold, "dtype", rep.dtype);
}
template <typename Archive>
void fields(Archive& archive, vm::Layout::Entry& entry) {
  archive("signature", entry.signature, "function", entry.function);
}
template <typename Archive>
void fields(Archive& archive, vm::Layout& layout) {
  archive("kind", layout.kind, "tag", layout.tag, "fields", layout.fields, "entries",
          layout.entries);
}
template <typename Archive>
void fields(Archive& archive, vm::Signature& signature) {
  archive("parameters", signature.parameters, "result", signature.result);
}
template <typename Archive>
void fields(Archive& archive, vm::Function& function) {
  archive("name", function.name, "range", function.range);
  archive.implied(function.start, function.size);
  archive("registers", function.registers, "parameters", function.parameters, "result",
          function.result, "flat", function.flat, "isClosure", function.isClosure);
}
template <typename Archive>
void fields(Archive& archive, vm::SiteStep& step) {
  archive("layout", step.layout, "field", step.field);
}
template <typename Archive>
void fields(Archive& archive, vm::SiteInput& input) {
  archive("operand", input.operand, "path", input.path, "dtype", input.dtype, "rank", input.rank,
          "isScalar", input.isScalar);
}
template <typename Archive>
void fields(Archive& archive, vm::KernelResult& result) {
  archive("rank", result.rank, "isScalar", result.isScalar);
}
template <typename Archive>
void fields(Archive& archive, vm::KernelSite& site) {
  archive("inputs", site.inputs, "results", site.results, "resultLayout", site.resultLayout,
          "shapes", site.shapes, "function", site.function);
  archive.implied(site.programs);
}
template <typename Archive>
void fields(Archive& archive, vm::NativeSite& site) {
  archive("name", site.name, "numbers", site.parameters.numbers, "reals", site.parameters.reals,
          "inputs", site.inputs, "resultLayout", site.resultLayout);
}
template <typename Archive>
void fields(Archive& archive, vm::HostSite& site) {
  archive("kind", site.kind, "range", site.range, "check", site.check, "caller", site.caller,
          "hasOuterSizes", site.hasOuterSizes, "op", site.op, "operands", site.operands, "given",
          site.given, "hasResult", site.hasResult, "result", site.result, "kernel", site.kernel,
          "native", site.native);
}
template <typename Archive>
void fields(Archive& archive, vm::Caller& caller) {
  archive("from", caller.from, "callee", caller.callee);
}
template <typename Archive>
void fields(Archive& archive, vm::Origin& origin) {
  archive("range", origin.range, "op", origin.op, "caller", origin.caller);
}
template <typename Archive>
void fields(Archive& archive, vm::Place& place) {
  archive("start", place.start, "origin", place.origin);
}
/// All but the objects, whose elements stand elsewhere in the file.
template <typename Archive>
void fields(Archive& archive, vm::Program& program) {
  archive.implied(program.code);
  archive("functions", program.functions, "layouts", program.layouts, "signatures",
          program.signatures, "words", program.words, "sites", program.sites, "kernels",
          program.kernels, "natives", program.natives, "checks", program.checks, "operators",
          program.operators, "callers", program.callers, "origins", program.origins);
  archive.implied(program.places);
  archive("entries", program.entries);
}

// executable/

template <typename Archive>
void fields(Archive& archive, ObjectForm& object) {
  archive("layout", object.layout, "fields", object.fields, "check", object.check);
}
template <typename Archive>
void fields(Archive& archive, Form& form) {
  archive("kind", form.kind, "rep", form.rep, "objects", form.objects);
}
template <typename Archive>
void fields(Archive& archive, Port& port) {
  archive("name", port.name, "type", port.type, "declared", port.declared, "isDeclared",
          port.isDeclared, "range", port.range, "form", port.form);
}
template <typename Archive>
void fields(Archive& archive, Entry& entry) {
  archive("name", entry.name, "parameters", entry.parameters, "result", entry.result);
}
template <typename Archive>
void fields(Archive& archive, SourceText& source) {
  archive("name", source.name, "text", source.text);
}
template <typename Archive>
void fields(Archive& archive, LayoutName& name) {
  archive("layout", name.layout, "dataType", name.dataType, "fieldNames", name.fieldNames);
}
template <typename Archive>
void fields(Archive& archive, LanguageSite& site) {
  archive("site", site.site, "function", site.function);
}
template <typename Archive>
void fields(Archive& archive, MachineCode& code) {
  archive(code.target, code.kernels, code.bytes);
}
template <typename Archive>
void fields(Archive& archive, Executable& made) {
  fields(archive, made.program);
  archive("interface", made.entries, "forms", made.forms, "boxesScalars", made.boxesScalars,
          "dataTypes", made.dataTypes, "language", made.language, "languageSites",
          made.languageSites, "sources", made.sources);
  archive.implied(made.machineCode);
}

} // namespace executable
