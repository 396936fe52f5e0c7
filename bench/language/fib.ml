let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let rec times k a = if k = 0 then a else times (k - 1) (a + fib 30)
let () = print_int (times 10 0)
