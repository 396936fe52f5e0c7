let rec step n x y vx vy =
  if n = 0 then x
  else
    let r2 = x *. x +. y *. y in
    let r3 = r2 *. sqrt r2 in
    let vx = vx -. 0.001 *. (x /. r3) and vy = vy -. 0.001 *. (y /. r3) in
    step (n - 1) (x +. 0.001 *. vx) (y +. 0.001 *. vy) vx vy
let () = Printf.printf "%.17g" (step 5_000_000 1. 0. 0. 1.)
