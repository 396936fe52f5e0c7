local function step(n, x, y, vx, vy)
  if n == 0 then return x end
  local r2 = x * x + y * y
  local r3 = r2 * math.sqrt(r2)
  local vx2, vy2 = vx - 0.001 * (x / r3), vy - 0.001 * (y / r3)
  return step(n - 1, x + 0.001 * vx2, y + 0.001 * vy2, vx2, vy2)
end
print(string.format("%.17g", step(5000000, 1.0, 0.0, 0.0, 1.0)))
