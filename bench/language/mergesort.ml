type list = Nil | Cons of int * list
let rec numbers n x l =
  if n = 0 then l
  else
    let k = (x * 1103515245 + 12345) land 2147483647 in
    numbers (n - 1) k (Cons (k, l))
let rec split n l a =
  if n = 0 then (a, l) else match l with Nil -> (a, l) | Cons (x, t) -> split (n - 1) t (Cons (x, a))
let rec merge a b =
  match a with
  | Nil -> b
  | Cons (x, s) -> (
    match b with
    | Nil -> a
    | Cons (y, t) -> if x <= y then Cons (x, merge s b) else Cons (y, merge a t))
let rec sort n l =
  if n < 2 then l
  else
    let half = n / 2 in
    let a, b = split half l Nil in
    let a = sort half a in
    merge a (sort (n - half) b)
let rec digest a l =
  match l with Cons (x, t) -> digest (((a * 31) + x) land 268435455) t | Nil -> a
let () = print_int (digest 0 (sort 1_000_000 (numbers 1_000_000 12345 Nil)))
