type e = Num of int | Add of e * e | Mul of e * e | If of e * e * e
let rec make d =
  if d = 0 then Num 3
  else if d mod 3 = 0 then let c = make (d - 1) in let a = make (d - 1) in If (c, a, Num 1)
  else let a = make (d - 1) in let b = make (d - 1) in if d mod 2 = 0 then Add (a, b) else Mul (a, b)
let rec eval e = match e with
  | Num n -> n
  | Add (a, b) -> let x = eval a in (x + eval b) land 65535
  | Mul (a, b) -> let x = eval a in (x * eval b) land 65535
  | If (c, a, b) -> if eval c <> 0 then eval a else eval b
let rec times k a e = if k = 0 then a else times (k - 1) (a + eval e) e
let () = print_int (times 50 0 (make 20))
