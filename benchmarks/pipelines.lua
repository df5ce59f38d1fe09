-- For wrk: many submissions at once on each connection, over and over, and all answers are read.
-- Arguments: path, length of a submission, number of submissions at a time.

function init(arguments)
  local path, length, number = arguments[1], tonumber(arguments[2]), tonumber(arguments[3])
  wrk.headers["Content-Type"] = "application/octet-stream"
  local row = {}
  for place = 1, number do
    local body = { "\1\0\1" }
    for byte = 2, length - 2 do body[byte] = string.char(math.random(0, 255)) end
    row[place] = wrk.format("POST", path, nil, table.concat(body))
  end
  row = table.concat(row)
  request = function() return row end
end
