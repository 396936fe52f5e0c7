type tree = Leaf | Node of tree * int * tree
let rec insert k t =
  match t with
  | Leaf -> Node (Leaf, k, Leaf)
  | Node (l, x, r) ->
    if k < x then Node (insert k l, x, r) else if x < k then Node (l, x, insert k r) else t
let rec go n x t =
  if n = 0 then t
  else
    let k = (x * 1103515245 + 12345) land 2147483647 in
    go (n - 1) k (insert k t)
let rec depth t = match t with Leaf -> 0 | Node (l, _, r) -> 1 + max (depth l : int) (depth r)
let () = print_int (depth (go 1_000_000 12345 Leaf))
