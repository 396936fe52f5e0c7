local function insert(k, t)
  if not t then return {nil, k, nil} end
  local x = t[2]
  if k < x then return {insert(k, t[1]), x, t[3]} end
  if x < k then return {t[1], x, insert(k, t[3])} end
  return t
end
local function depth(t)
  if not t then return 0 end
  return 1 + math.max(depth(t[1]), depth(t[3]))
end
-- Numbers may be floats, so the product is made of two.
local x, t = 12345, nil
for _ = 1, 1000000 do
  x = (x * 20077 + (x * 16838 % 32768) * 65536 + 12345) % 2147483648
  t = insert(x, t)
end
print(depth(t))
