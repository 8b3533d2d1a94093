---@module kc.chunks
-- Texts of chunks that lie in no file (kc -e, standard input), by the names of the chunks: whoever reads a function's source finds it here.
return {}
