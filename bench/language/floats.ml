let rec sum i x a = if i = 0 then a else sum (i - 1) (x *. 0.999999 +. 0.5) (a +. x *. x -. a *. 0.25)
let () = Printf.printf "%.17g\n" (sum 50000000 1.0 0.0)
