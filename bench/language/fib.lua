local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local a = 0
for _ = 1, 10 do a = a + fib(30) end
print(a)
