let rec even n = if n = 0 then true else odd (n - 1)
and odd n = if n = 0 then false else even (n - 1)
let rec times k a = if k = 0 then a else times (k - 1) (a + if even 10_000_000 then 1 else 0)
let () = print_int (times 10 0)
