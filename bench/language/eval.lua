local function make(d)
  if d == 0 then return {"num", 3} end
  if d % 3 == 0 then return {"if", make(d - 1), make(d - 1), {"num", 1}} end
  if d % 2 == 0 then return {"add", make(d - 1), make(d - 1)} end
  return {"mul", make(d - 1), make(d - 1)}
end
local function eval(e)
  local kind = e[1]
  if kind == "num" then return e[2] end
  if kind == "add" then return (eval(e[2]) + eval(e[3])) % 65536 end
  if kind == "mul" then return (eval(e[2]) * eval(e[3])) % 65536 end
  if eval(e[2]) ~= 0 then return eval(e[3]) end
  return eval(e[4])
end
local e, a = make(20), 0
for _ = 1, 50 do a = a + eval(e) end
print(a)
