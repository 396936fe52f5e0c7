local function perfect(d)
  if d == 0 then return false end
  return {perfect(d - 1), d, perfect(d - 1)}
end
local function sum(t)
  if not t then return 0 end
  return sum(t[1]) + t[2] + sum(t[3])
end
local a = 0
for _ = 1, 10 do a = a + sum(perfect(20)) end
print(a)
