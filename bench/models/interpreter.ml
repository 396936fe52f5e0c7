type expr =
  | Num of int
  | Var of int
  | Add of expr * expr
  | Mul of expr * expr
  | If of expr * expr * expr
  | Let of expr * expr
  | Lam of expr
  | App of expr * expr

type value = Int of int | Closure of value list * expr

let number = function
  | Int n -> n
  | Closure _ -> failwith "a function where a number is wanted"

let rec eval env = function
  | Num n -> Int n
  | Var i -> List.nth env i
  | Add (a, b) -> Int (number (eval env a) + number (eval env b))
  | Mul (a, b) -> Int (number (eval env a) * number (eval env b))
  | If (c, a, b) -> if number (eval env c) <> 0 then eval env a else eval env b
  | Let (a, b) -> eval (eval env a :: env) b
  | Lam b -> Closure (env, b)
  | App (f, a) -> (
      match eval env f with
      | Closure (saved, body) -> eval (eval env a :: saved) body
      | Int _ -> failwith "a number is called")
