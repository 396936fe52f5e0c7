type tree = Leaf | Node of tree * int * tree
let rec perfect d = if d = 0 then Leaf else
  let l = perfect (d - 1) in let r = perfect (d - 1) in Node (l, d, r)
let rec sum t = match t with Leaf -> 0 | Node (l, x, r) -> sum l + x + sum r
let rec times k a = if k = 0 then a else times (k - 1) (a + sum (perfect 20))
let () = print_int (times 10 0)
