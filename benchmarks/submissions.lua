-- For wrk: every request is a submission that nobody has sent before.
-- Arguments: path, number of messages, length of a message, 16 hexadecimal digits for this run.

local path, messages, length, run
local threads = 0
local tails = {}
local number = 0

function setup(thread)
  thread:set("thread_number", threads)
  threads = threads + 1
end

function init(arguments)
  path, messages, length = arguments[1], tonumber(arguments[2]), tonumber(arguments[3])
  run = arguments[4]:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
  math.randomseed(os.time() + thread_number)
  for message = 1, messages do
    local tail = {}
    for place = 1, length - 8 do tail[place] = string.char(math.random(0, 255)) end
    tails[message] = table.concat(tail)
  end
  wrk.headers["Content-Type"] = "application/octet-stream"
end

-- Eight bytes that differ from request to request: the thread, then a count.
local function count()
  number = number + 1
  return string.char(
    thread_number, 0, 0, math.floor(number / 4294967296) % 256,
    math.floor(number / 16777216) % 256, math.floor(number / 65536) % 256,
    math.floor(number / 256) % 256, number % 256
  )
end

-- Version 1, round 1, the id, and messages, each of them different.
function request()
  local own = count()
  local parts = { "\1\0\1", run, own }
  for message = 1, messages do
    parts[#parts + 1] = own
    parts[#parts + 1] = tails[message]
  end
  return wrk.format("POST", path, nil, table.concat(parts))
end

-- Times in microseconds.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"count": %d, "seconds": %.6f, "p50": %.6f, "p99": %.6f, "other": %d, "broken": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6,
    latency:percentile(99) / 1e6, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
