// Frames on an explicit stack, one for each object that is not done.
#include "vm/bytecode/convert.h"

#include "lang/calls/run_value.h"

namespace bytecode {

using namespace lang;
using runtime::Value;
using runtime::ValueKind;
using vm::Slot;

struct ValueReader::Frame {
  const Value* value;
  uint16_t layout = 0;
  std::vector<Located> types = {};
  std::vector<Slot> fields = {};
};

ValueReader::Located ValueReader::located(const Type* type, const Scope* scope) const {
  if (type->kind == TypeKind::Variable && scope)
    for (size_t i = 0; i < scope->parameters.size(); ++i)
      if (scope->parameters[i] == type->parameter)
        return scope->arguments[i];
  return {type, scope};
}

Rep ValueReader::repOf(Located type) const {
  return layouts_.rep(type.type, {});
}

const ValueReader::Scope* ValueReader::scopeOf(Located data) {
  std::vector<Located> arguments;
  for (const Type* part : data.type->parts)
    arguments.push_back(located(part, data.scope));
  auto [found, isNew] = known_.try_emplace({data.type->definition, arguments});
  if (isNew) {
    scopes_.push_back({data.type->definition->generics, std::move(arguments)});
    found->second = &scopes_.back();
  }
  return found->second;
}

/// A value that has fields, with their types.
ValueReader::Frame ValueReader::open(const Value& value, Located type) {
  Frame frame{&value};
  if (value.kind() == ValueKind::Tuple) {
    std::vector<Rep> reps;
    for (const Type* part : type.type->parts) {
      frame.types.push_back(located(part, type.scope));
      reps.push_back(repOf(frame.types.back()));
    }
    frame.layout = layouts_.tuple(std::move(reps));
  } else if (value.kind() == ValueKind::Reference) {
    frame.types.push_back(located(type.type->parts[0], type.scope));
    frame.layout = layouts_.cell(repOf(frame.types.back()));
  } else {
    const Constructor& constructor = constructorOf(value);
    const Scope* scope = scopeOf(type);
    Environment arguments;
    for (size_t i = 0; i < scope->arguments.size(); ++i)
      arguments.emplace_back(scope->parameters[i], repOf(scope->arguments[i]));
    for (const Type* field : constructor.fields)
      frame.types.push_back(located(field, scope));
    frame.layout = layouts_.data(constructor, arguments);
  }
  return frame;
}

Slot ValueReader::read(const Value& root, const Type* type) {
  std::vector<Frame> stack;
  Slot done;
  auto start = [&](const Value& value, Located of) {
    if (value.kind() != ValueKind::Tensor) {
      stack.push_back(open(value, of));
      return false;
    }
    done = Slot();
    if (repOf(of).isScalar())
      std::memcpy(&done, value.tensor().bytes(), value.tensor().byteSize());
    else
      done.object = machine_.heap().box(value);
    return true;
  };
  if (start(root, {type, nullptr}))
    return done;
  while (true) {
    Frame& top = stack.back();
    if (size_t next = top.fields.size(); next < top.types.size()) {
      if (start(top.value->fields()[next], top.types[next]))
        stack.back().fields.push_back(done);
      continue;
    }
    machine_.takeUpLayouts();
    done.object = machine_.heap().make(top.layout);
    std::ranges::copy(top.fields, done.object->fields());
    stack.pop_back();
    if (stack.empty())
      return done;
    stack.back().fields.push_back(done);
  }
}

} // namespace bytecode
