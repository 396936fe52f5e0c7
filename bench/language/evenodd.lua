local odd
local function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
local a = 0
for _ = 1, 10 do if even(10000000) then a = a + 1 end end
print(a)
