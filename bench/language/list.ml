type list = Nil | Cons of int * list
let rec build i l = if i = 0 then l else build (i - 1) (Cons (i, l))
let rec double l = match l with Cons (x, t) -> let y = 2 * x + 1 in Cons (y, double t) | Nil -> Nil
let rec sum a l = match l with Cons (x, t) -> sum (a + x) t | Nil -> a
let rec times k a = if k = 0 then a else times (k - 1) (a + sum 0 (double (build 1_000_000 Nil)))
let () = print_int (times 20 0)
