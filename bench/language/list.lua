-- The stack is not deep enough to double a million recursively: the end of the new list is written.
local function build(i, l)
  while i ~= 0 do i, l = i - 1, {i, l} end
  return l
end
local function double(l)
  local first = {}
  local last = first
  while l do
    local cell = {2 * l[1] + 1}
    last[2], last, l = cell, cell, l[2]
  end
  return first[2]
end
local function sum(a, l)
  while l do a, l = a + l[1], l[2] end
  return a
end
local a = 0
for _ = 1, 20 do a = a + sum(0, double(build(1000000, nil))) end
print(string.format("%.0f", a))
