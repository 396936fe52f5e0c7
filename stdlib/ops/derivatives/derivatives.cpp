// Derivatives as expressions: functions from functions to functions.
//
// A call of most of these stands for code, which a pass writes before the program runs: no engine
// sees it. The others give back what they are given, and tell that pass something.
#include "stdlib/ops/derivatives/derivative_relations.h"
#include "stdlib/ops/families.h"

namespace stdlib {

namespace {

using namespace lang;

constexpr NoGradient ofItsCode{
    "it stands for code, and the derivative of its value is that of this code"};
constexpr NoGradient ofTheFunction{
    "it gives a function, and the derivative is that of what the function gives"};

constexpr NoGradient constant{"derivatives take it for a constant, and give its operand nothing"};

constexpr OperandRow scalarOperand[] = {{"f", "a function that gives one float", OperandKind::Any}};
constexpr OperandRow tensorOperand[] = {
    {"f", "a function that gives a tensor of floats, or a tuple or a record of them",
     OperandKind::Any}};
constexpr OperandRow valueOperand[] = {
    {"f", "a function that gives a value with floats in it", OperandKind::Any}};
constexpr OperandRow atOperands[] = {
    {"f", "a function of one argument that gives one float", OperandKind::Any},
    {"x", "the argument", OperandKind::Any}};
constexpr OperandRow functionOperand[] = {{"f", "a function", OperandKind::Any}};
constexpr OperandRow customOperands[] = {
    {"f", "a function", OperandKind::Any},
    {"pullback",
     "the function from the arguments of `f`, if it takes one more what `f` gave, and a cotangent "
     "of that to the cotangents of the arguments",
     OperandKind::Any, true}};
constexpr OperandRow customTangentOperands[] = {
    {"f", "a function", OperandKind::Any},
    {"tangent",
     "the function from the arguments of `f` and tangents of them to the tangent of what it gives",
     OperandKind::Any, true}};
constexpr OperandRow linearOperand[] = {
    {"f", "a function that is linear in the arguments that `wrt` asks for", OperandKind::Any}};
constexpr OperandRow dataOperand[] = {{"data", "a value of any type", OperandKind::Any}};

constexpr AttributeRow wrtAttributes[] = {
    {"wrt", AttributeKind::IntOrIntList, "0",
     "the number of the argument, or a list of them: then the derivatives are a tuple; negative "
     "numbers count from the back"}};
constexpr AttributeRow modeRow(std::string_view mode) {
  return {"mode", AttributeKind::String, mode,
          "`forward`: one tangent for each element of arguments, `reverse`: one pull-back for each "
          "element of the value, or `auto`"};
}
constexpr AttributeRow jacobianAttributes[] = {wrtAttributes[0], modeRow("\"auto\"")};
constexpr AttributeRow jacfwdAttributes[] = {wrtAttributes[0], modeRow("\"forward\"")};
constexpr AttributeRow jacrevAttributes[] = {wrtAttributes[0], modeRow("\"reverse\"")};
constexpr AttributeRow oneWrtAttributes[] = {
    {"wrt", AttributeKind::Int, "0",
     "the number of the argument; a negative one counts from the back"}};

constexpr AttributeRow customAttributes[] = {
    {"nondiff", AttributeKind::IntOrIntList, "[]",
     "the number of an argument that counts as a constant, or a list of them; negative numbers "
     "count from the back"}};

constexpr Example gradExamples[] = {
    {"grad(fn (%x: float32) { %x * %x })(3f)", "6f"},
    {"grad(fn (%x: float32, %y: float32) { %x * %y }, wrt=[0, 1])(3f, 4f)", "(4f, 3f)"},
    {"grad(fn (%p: (Tensor[(2), float32], int32)) { sum(%p.0 * %p.0) })(([1f, 2f], 5))",
     "([2f, 4f], 0)"},
    {"grad(grad(fn (%x: float32) { %x * %x * %x }))(2f)", "12f"},
    {"grad(fn (%x: float32) { %x * stop_gradient(%x) })(3f)", "3f"}};
constexpr Example gradientAtExamples[] = {
    {"gradient_at(fn (%p: (float32, float32)) { %p.0 * %p.1 }, (3f, 4f))", "(4f, 3f)"}};
constexpr Example valueAndGradExamples[] = {
    {"value_and_grad(fn (%x: float32) { %x * %x })(3f)", "(9f, 6f)"},
    {"value_and_grad(fn (%n: int32, %x: float32) { %x * 2f }, wrt=1)(1, 3f)", "(6f, 2f)"}};
constexpr Example vjpExamples[] = {
    {"{ let %made = vjp(fn (%x: Tensor[(2), float32]) { %x * %x })([1f, 2f]); "
     "let %back = %made.1; (%made.0, %back([1f, 10f])) }",
     "([1f, 4f], [2f, 40f])"}};
constexpr Example jvpExamples[] = {
    {"jvp(fn (%x: Tensor[(2), float32]) { %x * %x })([1f, 2f], [1f, 10f])",
     "([1f, 4f], [2f, 40f])"},
    {"jvp(fn (%x: float32, %y: float32) { %x * %y }, wrt=[1])(3f, 4f, 10f)", "(12f, 30f)"}};
constexpr Example hvpExamples[] = {
    {"hvp(fn (%x: Tensor[(2), float32]) { sum(%x * %x * %x) })([1f, 2f], [1f, 10f])",
     "[6f, 120f]"}};
constexpr Example jacobianExamples[] = {
    {"jacobian(fn (%x: Tensor[(2), float32]) { %x * %x })([1f, 2f])", "[[2f, 0f], [0f, 4f]]"},
    {"jacobian(fn (%x: float32, %y: Tensor[(2), float32]) { %y * %x }, wrt=[0, 1])(3f, [1f, 2f])",
     "([1f, 2f], [[3f, 0f], [0f, 3f]])"},
    {"jacobian(fn (%p: (Tensor[(2), float32], float32)) { %p.0 * %p.1 })(([1f, 2f], 3f))",
     "([[3f, 0f], [0f, 3f]], [1f, 2f])"}};
constexpr Example jacfwdExamples[] = {
    {"jacfwd(fn (%x: float32) { ([1f, 2f] * %x, %x * %x) })(3f)", "([1f, 2f], 6f)"}};
constexpr Example jacrevExamples[] = {
    {"jacrev(fn (%x: Tensor[(3), float32]) { sum(%x * %x) })([1f, 2f, 3f])", "[2f, 4f, 6f]"}};
constexpr Example hessianExamples[] = {
    {"hessian(fn (%x: Tensor[(2), float32]) { sum(%x * %x * %x) })([1f, 2f])",
     "[[6f, 0f], [0f, 12f]]"}};
constexpr Example stopGradientExamples[] = {{"stop_gradient([1f, 2f])", "[1f, 2f]"}};
constexpr Example checkpointExamples[] = {
    {"checkpoint(fn (%x: float32) { exp(%x) * %x })(0f)", "0f"}};
constexpr Example customGradExamples[] = {
    {"grad(custom_grad(fn (%x: float32) { sqrt(%x) }, "
     "fn (%x: float32, %y: float32, %dy: float32) { %dy / (2f * %y) }))(4f)",
     "0.25f"},
    {"custom_grad(fn (%x: float32) { abs(%x) }, fn (%x: float32, %dy: float32) { %dy })(-3f)",
     "3f"}};

constexpr Example customTangentExamples[] = {
    {"jvp(custom_jvp(fn (%x: float32) { abs(%x) }, fn (%x: float32, %dx: float32) { %dx }))"
     "(-3f, 1f)",
     "(3f, 1f)"},
    {"grad(custom_jvp(fn (%x: float32, %n: int32) { round(%x) }, "
     "fn (%x: float32, %n: int32, %dx: float32) { 2f * %dx }))(1.2f, 5)",
     "2f"}};
constexpr Example transposeExamples[] = {
    {"linear_transpose(fn (%x: Tensor[(2), float32]) { sum(%x * [2f, 3f]) })([0f, 0f], 10f)",
     "[20f, 30f]"},
    {"linear_transpose(fn (%a: float32, %x: float32) { %a * %x }, wrt=1)(2f, 0f, 5f)", "10f"}};

constexpr std::string_view jacobianDetails =
    "Its shape is that of the value followed by that of the argument; both must have the same "
    "element type. Arguments and values may be tuples and records, data types with one "
    "constructor, of tensors: the result then has a tuple in the place of each, that of the value "
    "outside, and a tensor for each pair of tensors. Integers in arguments have zeros. It is found "
    "in forward mode where the arguments surely hold fewer floats than the value, also by names, "
    "as `n` does beside `n + 1`, and in reverse mode else, or where the function calls one with "
    "`custom_grad`. `jacfwd` and `jacrev` say which.";

constexpr OperatorRow jacobianRow(std::string_view name, std::string_view doc,
                                  std::string_view details,
                                  std::span<const AttributeRow> attributes,
                                  std::span<const Example> examples) {
  return {.name = name,
          .doc = doc,
          .details = details,
          .operands = tensorOperand,
          .attributes = attributes,
          .attributesKey = "baton.attrs.JacobianAttrs",
          .relation = jacobianRelation,
          .action = Action::Expand,
          .derivative = Derivative::Jacobian,
          .gradient = ofItsCode,
          .examples = examples};
}

constexpr OperatorRow rows[] = {
    {.name = "grad",
     .synonyms = "gradient",
     .doc = "The gradient of a function that gives one float, as a function of the same arguments.",
     .details =
         "It has the type of the argument: integers in it have zeros. The argument must hold "
         "floats, and no functions and no references; what a type parameter stands for is looked "
         "at where its definition is called. Gradients of gradients are of higher order, as in "
         "`grad(grad(f))`.",
     .operands = scalarOperand,
     .attributes = wrtAttributes,
     .attributesKey = "baton.attrs.GradAttrs",
     .relation = gradRelation,
     .action = Action::Expand,
     .derivative = Derivative::Grad,
     .gradient = ofItsCode,
     .examples = gradExamples},
    {.name = "gradient_at",
     .doc = "The gradient at a value of a function that gives one float, as `grad(f)(x)`.",
     .details = "In a generic definition the types may be type parameters: what `grad` demands of "
                "them is asked where the definition is used.",
     .operands = atOperands,
     .relation = gradientAtRelation,
     .action = Action::Expand,
     .derivative = Derivative::Grad,
     .gradient = ofItsCode,
     .examples = gradientAtExamples},
    {.name = "value_and_grad",
     .doc = "As `grad`, giving the value of the function and its gradient.",
     .details = "What both need is computed once.",
     .operands = scalarOperand,
     .attributes = wrtAttributes,
     .attributesKey = "baton.attrs.GradAttrs",
     .relation = valueAndGradRelation,
     .action = Action::Expand,
     .derivative = Derivative::ValueAndGrad,
     .gradient = ofItsCode,
     .examples = valueAndGradExamples},
    {.name = "vjp",
     .synonyms = "pullback",
     .doc = "The value of a function, and the function from a cotangent of it to that of the "
            "arguments.",
     .details = "A cotangent has the type of the value: it says how much each float of it counts. "
                "What comes back is the gradient of the sum so weighted. This is the reverse mode: "
                "it takes a few times as long as the function, however many floats the arguments "
                "hold.",
     .operands = valueOperand,
     .attributes = wrtAttributes,
     .attributesKey = "baton.attrs.GradAttrs",
     .relation = vjpRelation,
     .action = Action::Expand,
     .derivative = Derivative::Vjp,
     .gradient = ofItsCode,
     .examples = vjpExamples},
    {.name = "jvp",
     .synonyms = "pushforward",
     .doc = "The value of a function and its tangent, from the arguments and a tangent of each.",
     .details =
         "The tangents come after the arguments, one for each argument that `wrt` asks for, "
         "in its order. The tangent of the value is how it changes when the arguments change "
         "along theirs. This is the forward mode: it keeps nothing for a way back.",
     .operands = valueOperand,
     .attributes = wrtAttributes,
     .attributesKey = "baton.attrs.GradAttrs",
     .relation = jvpRelation,
     .action = Action::Expand,
     .derivative = Derivative::Jvp,
     .gradient = ofItsCode,
     .examples = jvpExamples},
    {.name = "hvp",
     .doc = "The product of the Hessian of a function and a tangent: the tangent of its gradient.",
     .details =
         "The tangents come after the arguments, as those of `jvp` do. The Hessian itself is "
         "not made, so this takes only a few times as long as the function.",
     .operands = scalarOperand,
     .attributes = wrtAttributes,
     .attributesKey = "baton.attrs.GradAttrs",
     .relation = hvpRelation,
     .action = Action::Expand,
     .derivative = Derivative::Hvp,
     .gradient = ofItsCode,
     .examples = hvpExamples},
    jacobianRow("jacobian",
                "The derivative of each element of a value by each element of an argument.",
                jacobianDetails, jacobianAttributes, jacobianExamples),
    jacobianRow("jacfwd", "`jacobian` in forward mode: one tangent for each element of arguments.",
                "It is the better one where a function gives more elements than it takes, which "
                "`jacobian` sees where it knows the sizes.",
                jacfwdAttributes, jacfwdExamples),
    jacobianRow("jacrev",
                "`jacobian` in reverse mode: one pull-back for each element of the value.",
                "It is the better one where a function takes more elements than it gives, which "
                "`jacobian` sees where it knows the sizes.",
                jacrevAttributes, jacrevExamples),
    {.name = "hessian",
     .doc = "The second derivatives of a function that gives one float, by each pair of elements.",
     .details =
         "Its shape is that of the argument, twice; of a tuple or a record of floats it is a "
         "tuple of tuples, as `jacobian` makes of its gradient.",
     .operands = scalarOperand,
     .attributes = oneWrtAttributes,
     .attributesKey = "baton.attrs.HessianAttrs",
     .relation = hessianRelation,
     .action = Action::Expand,
     .derivative = Derivative::Hessian,
     .gradient = ofItsCode,
     .examples = hessianExamples},
    {.name = "stop_gradient",
     .synonyms = "detach stop_grad no_grad",
     .doc = "Its operand, which derivatives of any order take for a constant.",
     .operands = dataOperand,
     .relation = sameAsValue,
     .action = Action::Pass,
     .gradient = constant,
     .examples = stopGradientExamples},
    {.name = "checkpoint",
     .synonyms = "remat",
     .doc = "The function itself; derivatives compute what it does again instead of keeping it.",
     .details = "A gradient keeps what the way back needs. Of a function that went through "
                "`checkpoint` it keeps the arguments alone, and calls it again on the way back: "
                "less memory, more time. A recursion of n steps that is split into segments of the "
                "root of n steps, each a call of such a function, holds about two roots of n "
                "states instead of n; `checkpointed_loop` of the prelude does that. What the "
                "function finds must be the same then: where a program writes to references, it "
                "captures and takes none, and it gives no functions.",
     .operands = functionOperand,
     .relation = sameAsFunction,
     .action = Action::Pass,
     .derivative = Derivative::Checkpoint,
     .gradient = ofTheFunction,
     .examples = checkpointExamples},
    {.name = "custom_grad",
     .synonyms = "custom_vjp custom_gradient",
     .doc = "The function itself, with a derivative of one's own.",
     .details =
         "`pullback` gets the arguments of `f`, what `f` gave if it takes two more than `f` does, "
         "and "
         "a cotangent of what `f` gave, and gives the cotangents of all arguments that hold floats "
         "and that `nondiff` does not name: a value "
         "of the type of the argument if there is one such argument, else a tuple of them. Nobody "
         "checks that they are right. Derivatives of any order ask it, and `f` itself is never "
         "differentiated, so what `f` captures must not vary: make it an argument. Arguments that "
         "`nondiff` names count as constants. Forward mode transposes `pullback`, which must be "
         "linear in the cotangent for that.",
     .operands = customOperands,
     .attributes = customAttributes,
     .attributesKey = "baton.attrs.CustomGradAttrs",
     .relation = customRelation,
     .action = Action::Pass,
     .derivative = Derivative::Custom,
     .gradient = ofTheFunction,
     .examples = customGradExamples},
    {.name = "custom_jvp",
     .doc = "The function itself, with a forward rule of one's own.",
     .details = "`tangent` gets the arguments of `f` and a tangent of each that holds floats, in "
                "their order, and gives the tangent of what `f` gives. It must be linear in the "
                "tangents: reverse mode transposes it. What is said of `custom_grad` holds here "
                "too.",
     .operands = customTangentOperands,
     .attributes = customAttributes,
     .attributesKey = "baton.attrs.CustomJvpAttrs",
     .relation = customTangentRelation,
     .action = Action::Pass,
     .derivative = Derivative::CustomTangent,
     .gradient = ofTheFunction,
     .examples = customTangentExamples},
    {.name = "linear_transpose",
     .doc = "The transpose of a linear function: from its arguments and a cotangent of what it "
            "gives to the cotangents of those that `wrt` asks for.",
     .details = "The function must be linear in those arguments together, so only their form "
                "counts; in the others it may be anything.",
     .operands = linearOperand,
     .attributes = wrtAttributes,
     .attributesKey = "baton.attrs.GradAttrs",
     .relation = transposeRelation,
     .action = Action::Expand,
     .derivative = Derivative::Transpose,
     .gradient = ofItsCode,
     .examples = transposeExamples},
};

} // namespace

lang::OperatorFamily derivativesFamily() {
  return rows;
}

} // namespace stdlib
