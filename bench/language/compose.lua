local function composed(n, f)
  if n == 0 then return f end
  return composed(n - 1, function(x) return f(x + 1) end)
end
local a = 0
for _ = 1, 20 do a = a + composed(1000000, function(x) return x end)(0) end
print(a)
