// What stands in a file, struct by struct, for writing and reading. A change here, or of an
// instruction, makes files of another version.
#pragma once

#include "executable/archive.h"
#include "executable/executable.h"

namespace executable {

template <>
struct LastOf<runtime::DTypeCode> {
  static constexpr auto value = runtime::DTypeCode::BFloat;
};
template <>
struct LastOf<vm::Hold> {
  static constexpr auto value = vm::Hold::Borrowed;
};
template <>
struct LastOf<vm::LayoutKind> {
  static constexpr auto value = vm::LayoutKind::Boxed;
};
template <>
struct LastOf<vm::SiteKind> {
  static constexpr auto value = vm::SiteKind::Unbox;
};
template <>
struct LastOf<checks::SizeKind> {
  static constexpr auto value = checks::SizeKind::Quotient;
};
template <>
struct LastOf<checks::Declared::Kind> {
  static constexpr auto value = checks::Declared::Kind::Tuple;
};
template <>
struct LastOf<tensor::ShapeFunction::Step> {
  static constexpr auto value = tensor::ShapeFunction::Step::NeedsMultiple;
};

// runtime/

template <typename Archive>
void fields(Archive& archive, runtime::DType& dtype) {
  archive(dtype.code, dtype.bits, dtype.lanes);
}
template <typename Archive>
void fields(Archive& archive, runtime::SourceRange& range) {
  archive(range.begin, range.end);
}

// tensor/

template <typename Archive>
void fields(Archive& archive, tensor::KnownExtent& known) {
  archive(known.place, known.same, known.number);
}
template <typename Archive>
void fields(Archive& archive, tensor::ShapeFunction::Instruction& instruction) {
  archive(instruction.step, instruction.left, instruction.right, instruction.number);
}
template <typename Archive>
void fields(Archive& archive, tensor::ShapeFunction& function) {
  archive(function.operandExtents, function.instructions, function.results);
}
/// By expression_table.h.
void fields(Writer& writer, tensor::TensorFunction& function);
void fields(Reader& reader, tensor::TensorFunction& function);

// checks/

template <typename Archive>
void fields(Archive& archive, checks::SizeTerm& term) {
  archive(term.size, term.coefficient);
}
template <typename Archive>
void fields(Archive& archive, checks::Size& size) {
  archive(size.kind, size.number, size.terms, size.text);
}
template <typename Archive>
void fields(Archive& archive, checks::Declared& declared) {
  archive(declared.kind, declared.dtype, declared.shape, declared.parts, declared.text);
}
template <typename Archive>
void fields(Archive& archive, checks::Parameter& parameter) {
  archive(parameter.position, parameter.type, parameter.isDeclared, parameter.name,
          parameter.range);
}
template <typename Archive>
void fields(Archive& archive, checks::Need& need) {
  archive(need.size, need.least, need.divisor, need.op, need.range);
}
template <typename Archive>
void fields(Archive& archive, checks::FunctionCheck& check) {
  archive(check.name, check.parameters, check.result, check.isResultDeclared, check.outer,
          check.needs, check.keepsSizes);
}
template <typename Archive>
void fields(Archive& archive, checks::ValueCheck& check) {
  archive(check.type, check.isDeclared, check.name, check.range, check.function);
}
template <typename Archive>
void fields(Archive& archive, checks::FieldsCheck& check) {
  archive(check.constructor, check.fields);
}
template <typename Archive>
void fields(Archive& archive, checks::Tables& tables) {
  archive(tables.sizes, tables.functions, tables.values, tables.fields);
}
template <typename Archive>
void fields(Archive& archive, checks::CalledFrom& from) {
  archive(from.range, from.arguments);
}

// vm/

template <typename Archive>
void fields(Archive& archive, vm::Word& word) {
  archive(word.op, word.a, word.b, word.c);
}
template <typename Archive>
void fields(Archive& archive, vm::Rep& rep) {
  archive(rep.hold, rep.dtype);
}
template <typename Archive>
void fields(Archive& archive, vm::Layout::Entry& entry) {
  archive(entry.signature, entry.function);
}
template <typename Archive>
void fields(Archive& archive, vm::Layout& layout) {
  archive(layout.kind, layout.tag, layout.fields, layout.entries);
}
template <typename Archive>
void fields(Archive& archive, vm::Signature& signature) {
  archive(signature.parameters, signature.result);
}
template <typename Archive>
void fields(Archive& archive, vm::Function& function) {
  archive(function.name, function.range, function.start, function.size, function.registers,
          function.parameters, function.result, function.flat, function.isClosure);
}
template <typename Archive>
void fields(Archive& archive, vm::KernelStep& step) {
  archive(step.layout, step.field);
}
template <typename Archive>
void fields(Archive& archive, vm::KernelInput& input) {
  archive(input.operand, input.path, input.dtype, input.rank, input.isScalar);
}
template <typename Archive>
void fields(Archive& archive, vm::KernelResult& result) {
  archive(result.rank, result.isScalar);
}
template <typename Archive>
void fields(Archive& archive, vm::KernelSite& site) {
  archive(site.inputs, site.given, site.results, site.resultLayout, site.known, site.resultExtents,
          site.shapes, site.function);
}
template <typename Archive>
void fields(Archive& archive, vm::HostSite& site) {
  archive(site.kind, site.range, site.check, site.caller, site.hasOuterSizes, site.op,
          site.operands, site.hasResult, site.result, site.kernel);
}
template <typename Archive>
void fields(Archive& archive, vm::Caller& caller) {
  archive(caller.from, caller.callee);
}
template <typename Archive>
void fields(Archive& archive, vm::Origin& origin) {
  archive(origin.range, origin.op, origin.caller);
}
template <typename Archive>
void fields(Archive& archive, vm::Place& place) {
  archive(place.start, place.origin);
}
/// All but the objects, whose elements stand elsewhere in the file.
template <typename Archive>
void fields(Archive& archive, vm::Program& program) {
  archive(program.code, program.functions, program.layouts, program.signatures, program.words,
          program.sites, program.kernels, program.checks, program.operators, program.callers,
          program.origins, program.places, program.entry);
}

// executable/

template <typename Archive>
void fields(Archive& archive, Slotted& place) {
  archive(place.rep, place.layout, place.parts);
}
template <typename Archive>
void fields(Archive& archive, Port& port) {
  archive(port.name, port.type, port.declared, port.isDeclared, port.range, port.place);
}
template <typename Archive>
void fields(Archive& archive, SourceText& source) {
  archive(source.name, source.text);
}
template <typename Archive>
void fields(Archive& archive, LayoutName& name) {
  archive(name.layout, name.dataType);
}
template <typename Archive>
void fields(Archive& archive, LanguageSite& site) {
  archive(site.site, site.function);
}
template <typename Archive>
void fields(Archive& archive, Executable& made) {
  archive(made.program, made.entry, made.parameters, made.result, made.boxesScalars, made.dataTypes,
          made.language, made.languageSites, made.sources);
}

} // namespace executable
