let rec composed n f = if n = 0 then f else composed (n - 1) (fun x -> f (x + 1))
let rec times k a = if k = 0 then a else times (k - 1) (a + composed 1_000_000 (fun x -> x) 0)
let () = print_int (times 20 0)
