"""Operations that are cut or whose storage fails: their histories, drawn or written down, and the table for them."""
