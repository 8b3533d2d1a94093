local M = {}

function M.main(argv)
  arg = argv
  dofile(argv[1])
  return 0
end

return M
