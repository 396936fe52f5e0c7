// Markers: they give back what they are given, and tell a pass or a person something.
//
// They take values of any type, functions included. `debug` alone does something: it shows its
// operand to whoever runs the program.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

RelationResult shownValue(const RelationCall& call) {
  int64_t every = call.attributes.integer("every");
  return every < 1 ? call.failed(fmt::format("`every` is at least 1, not {}", every))
                   : sameAsValue(call);
}

/// The cotangent of the result is that of the operand, field by field.
void passBack(GradientCall& d) {
  if (d.operand(0).type()->isTensor())
    return give(d, 0, d.cotangent());
  for (size_t i = 0; i < d.fieldCount(0); ++i)
    if (d.hasCotangent(i))
      giveField(d, 0, i, d.cotangent(i));
}

constexpr OperandRow dataOperand[] = {{"data", "a value of any type", OperandKind::Any}};
constexpr OperandRow funcOperand[] = {{"func", "a value of any type", OperandKind::Any}};
constexpr OperandRow programOperand[] = {{"program", "a value of any type", OperandKind::Any}};
constexpr OperandRow bodyOperand[] = {{"body", "a value of any type", OperandKind::Any}};

constexpr AttributeRow castHintAttributes[] = {
    {"dtype", AttributeKind::DType, "", "the element type that is hinted at"}};
constexpr AttributeRow compilerAttributes[] = {
    {"compiler", AttributeKind::String, "", "the name of the compiler for the region"}};
constexpr AttributeRow withFuncIdAttributes[] = {
    {"fid", AttributeKind::Int, "-1", "the number of the function"}};
constexpr AttributeRow debugAttributes[] = {
    {"debug_func", AttributeKind::Object, "None", "a function of TVM's host; not called here",
     true},
    {"label", AttributeKind::String, "\"\"",
     "what is said before the value; fields of a tuple, or the value, stand for each `{}` in it"},
    {"every", AttributeKind::Int, "1",
     "how many calls at this place there are for one that shows"}};
constexpr AttributeRow failAttributes[] = {
    {"label", AttributeKind::String, "\"\"", "why the run ends"}};
constexpr AttributeRow onDeviceAttributes[] = {
    {"virtual_device", AttributeKind::Object, "None", "the device, as metadata", true},
    {"constrain_result", AttributeKind::Bool, "False", "whether the result must be there"},
    {"constrain_body", AttributeKind::Bool, "True", "whether the operand must be there"}};
constexpr AttributeRow deviceCopyAttributes[] = {
    {"src_virtual_device", AttributeKind::Object, "None", "the device from which, as metadata",
     true},
    {"dst_virtual_device", AttributeKind::Object, "None", "the device to which, as metadata",
     true}};

constexpr Example stopFusionExamples[] = {{"annotation.stop_fusion([1f, 2f])", "[1f, 2f]"}};
constexpr Example castHintExamples[] = {
    {"annotation.cast_hint([1f, 2f], dtype=\"int8\", attrs_type_key=\"relay.attrs.CastHintAttrs\")",
     "[1f, 2f]"}};
constexpr Example bitpackStartExamples[] = {{"annotation.bitpack_start([1, 2])", "[1, 2]"}};
constexpr Example bitpackEndExamples[] = {{"annotation.bitpack_end([1, 2])", "[1, 2]"}};
constexpr Example checkpointExamples[] = {{"annotation.checkpoint(([1f], [2f]))", "([1f], [2f])"}};
constexpr Example compilerBeginExamples[] = {{"annotation.compiler_begin([1f], compiler=\"dnnl\", "
                                              "attrs_type_key=\"relay.attrs.CompilerAttrs\")",
                                              "[1f]"}};
constexpr Example compilerEndExamples[] = {{"annotation.compiler_end([1f], compiler=\"dnnl\", "
                                            "attrs_type_key=\"relay.attrs.CompilerAttrs\")",
                                            "[1f]"}};
constexpr Example withFuncIdExamples[] = {
    {"annotation.with_funcid(fn (%x: int32) { %x * 2 }, fid=3, "
     "attrs_type_key=\"relay.attrs.WithFuncIdAttrs\")(4)",
     "8"}};
constexpr Example debugExamples[] = {
    {"debug([1f, 2f]) * 2f", "[2f, 4f]"},
    {"debug([1f, 2f], label=\"step\", every=100) * 2f", "[2f, 4f]"}};
constexpr Example failExamples[] = {
    {"if (True) { 1 } else { fail(2, label=\"no such number\") }", "1"}};
constexpr Example onDeviceExamples[] = {{"on_device([1f, 2f], constrain_result=True)", "[1f, 2f]"},
                                        {"on_device(fn (%x: int32) { %x + 1 })(4)", "5"}};
constexpr Example deviceCopyExamples[] = {{"device_copy([1f, 2f])", "[1f, 2f]"}};

/// A row that gives back its operand.
constexpr OperatorRow marker(std::string_view name, std::string_view doc,
                             std::span<const OperandRow> operands,
                             std::span<const Example> examples,
                             std::span<const AttributeRow> attributes = {},
                             std::string_view attributesKey = {}) {
  return {.name = name,
          .doc = doc,
          .operands = operands,
          .attributes = attributes,
          .attributesKey = attributesKey,
          .relation = sameAsValue,
          .action = Action::Pass,
          .gradient = GradientRule{passBack},
          .examples = examples};
}

constexpr OperatorRow unregistered(OperatorRow row) {
  row.unregisteredAttributes = true;
  return row;
}

constexpr OperatorRow rows[] = {
    marker("annotation.stop_fusion", "Its operand; TVM fuses no kernels across it.", dataOperand,
           stopFusionExamples),
    unregistered(marker("annotation.cast_hint",
                        "Its operand; tells TVM's quantisation an element type.", dataOperand,
                        castHintExamples, castHintAttributes, "relay.attrs.CastHintAttrs")),
    marker("annotation.bitpack_start", "Its operand; a region for TVM's VTA begins here.",
           dataOperand, bitpackStartExamples),
    marker("annotation.bitpack_end", "Its operand; a region for TVM's VTA ends here.", dataOperand,
           bitpackEndExamples),
    withRole(marker("annotation.checkpoint",
                    "Its operand, which derivatives compute again instead of keeping it.",
                    dataOperand, checkpointExamples),
             Role::Barrier),
    unregistered(marker("annotation.compiler_begin",
                        "Its operand; a region for another compiler begins here.", dataOperand,
                        compilerBeginExamples, compilerAttributes, "relay.attrs.CompilerAttrs")),
    unregistered(marker("annotation.compiler_end",
                        "Its operand; a region for another compiler ends here.", dataOperand,
                        compilerEndExamples, compilerAttributes, "relay.attrs.CompilerAttrs")),
    unregistered(marker("annotation.with_funcid",
                        "Its operand; TVM's partial evaluation numbers functions with it.",
                        funcOperand, withFuncIdExamples, withFuncIdAttributes,
                        "relay.attrs.WithFuncIdAttrs")),
    {.name = "debug",
     .synonyms = "print",
     .doc = "Its operand, which is shown with the place of the call while the program runs.",
     .details =
         "`baton run` writes it to standard error, of several calls at one place the first and "
         "then one of as many as `every` says. Passes neither drop nor move it.",
     .operands = programOperand,
     .attributes = debugAttributes,
     .attributesKey = "relay.attrs.DebugAttrs",
     .relation = shownValue,
     .action = Action::Show,
     .role = Role::Print,
     .gradient = GradientRule{passBack},
     .examples = debugExamples},
    {.name = "fail",
     .synonyms = "panic abort raise",
     .doc = "Ends the run with a fault that says why.",
     .details = "Its operand says of what type it would be. Passes neither drop nor move it.",
     .operands = dataOperand,
     .attributes = failAttributes,
     .attributesKey = "baton.attrs.FailAttrs",
     .relation = sameAsValue,
     .action = Action::Show,
     .role = Role::Fail,
     .gradient = GradientRule{passBack},
     .examples = failExamples},
    marker("on_device", "Its operand; tells TVM's device planning where a value is to be.",
           bodyOperand, onDeviceExamples, onDeviceAttributes, "relay.attrs.OnDeviceAttrs"),
    marker("device_copy", "Its operand; TVM copies it from one device to another.", dataOperand,
           deviceCopyExamples, deviceCopyAttributes, "relay.attrs.DeviceCopyAttrs"),
};

} // namespace

lang::OperatorFamily annotationFamily() {
  return rows;
}

} // namespace stdlib
