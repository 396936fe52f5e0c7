let rec even n = if n = 0 then true else odd (n - 1)
and odd n = if n = 0 then false else even (n - 1)
let () = print_string (if even 100_000_000 then "True" else "False")
