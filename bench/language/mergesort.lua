-- The end of the merged list is written, since the stack is not deep enough. Numbers may be floats,
-- so the product is made of two.
local function numbers(n, x)
  local l = nil
  for _ = 1, n do
    x = (x * 20077 + (x * 16838 % 32768) * 65536 + 12345) % 2147483648
    l = {x, l}
  end
  return l
end
local function split(n, l)
  local a = nil
  for _ = 1, n do a, l = {l[1], a}, l[2] end
  return a, l
end
local function merge(a, b)
  local first = {}
  local last = first
  while a and b do
    local cell
    if a[1] <= b[1] then cell, a = {a[1]}, a[2] else cell, b = {b[1]}, b[2] end
    last[2], last = cell, cell
  end
  last[2] = a or b
  return first[2]
end
local function sort(n, l)
  if n < 2 then return l end
  local half = math.floor(n / 2)
  local a, b = split(half, l)
  return merge(sort(half, a), sort(n - half, b))
end
local function digest(l)
  local a = 0
  while l do a, l = (a * 31 + l[1]) % 268435456, l[2] end
  return a
end
print(string.format("%.0f", digest(sort(1000000, numbers(1000000, 12345)))))
