std = "lua54"
max_line_length = 140
files["contracts"] = { read_globals = {} }
exclude_files = { "build*/" }
