---@module kc.canvas
-- A plot as text: dots of braille characters where the terminal shows UTF-8, asterisks elsewhere.
local M = {}

local Canvas = {}
Canvas.__index = Canvas

--- Does the user's locale say UTF-8? (POSIX: the first of these that is set counts.)
---@return boolean
function M.unicode()
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = os.getenv(name) or ""
    if value ~= "" then return value:lower():gsub("-", ""):find("utf8", 1, true) ~= nil end
  end
  return false
end

--- An empty canvas of characters; a character holds 2 x 4 dots, or one where there is no braille.
---@param columns integer
---@param rows integer
---@param braille boolean
---@return table canvas {width=, height= in dots}
function M.new(columns, rows, braille)
  local w, h = braille and 2 or 1, braille and 4 or 1
  return setmetatable({ columns = columns, rows = rows, w = w, h = h, width = columns * w, height = rows * h, cells = {} }, Canvas)
end

-- Unicode numbers the dots of a braille pattern by columns, except the lowest row, which was added later.
local dots = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } }

--- Sets the dot x, y: from 0, from the left and from the bottom; outside of the canvas nothing happens.
---@param x integer
---@param y integer
function Canvas:dot(x, y)
  if x < 0 or y < 0 or x >= self.width or y >= self.height then return end
  local down = self.height - 1 - y
  local at = (down // self.h) * self.columns + x // self.w
  self.cells[at] = (self.cells[at] or 0) | (self.w == 2 and dots[x % 2 + 1][down % 4 + 1] or 1)
end

--- A straight line of dots.
---@param x0 integer
---@param y0 integer
---@param x1 integer
---@param y1 integer
function Canvas:line(x0, y0, x1, y1)
  local steps = math.max(math.abs(x1 - x0), math.abs(y1 - y0), 1)
  for i = 0, steps do
    self:dot(math.floor(x0 + (x1 - x0) * i / steps + 0.5), math.floor(y0 + (y1 - y0) * i / steps + 0.5))
  end
end

--- The lines of text, from the top; trailing spaces left out.
---@return table lines
function Canvas:lines()
  local out = {}
  for row = 0, self.rows - 1 do
    local parts = {}
    for column = 0, self.columns - 1 do
      local cell = self.cells[row * self.columns + column]
      parts[#parts + 1] = not cell and " " or self.w == 2 and utf8.char(0x2800 | cell) or "*"
    end
    out[#out + 1] = (table.concat(parts):gsub(" +$", ""))
  end
  return out
end

return M
