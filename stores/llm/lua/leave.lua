-- End a call of the language model, and look now and then whether the provider takes as many as it is asked.
-- KEYS: [1] calls: sorted set of the calls under way -> when each counts as over, [2] pace: hash of "cap" (how many may be
-- under way, absent where nobody is held back), and since the cap was last looked at: "since" (when that was),
-- "answered" and "throttled" (how many calls ended so), "most" (the most that were under way).
-- ARGV: [1] call_id, [2] outcome: "answered", "throttled" or "failed", which says nothing, [3] window_us: after which the
-- cap is looked at, [4] least: how many calls must have ended by then.
-- Returns the cap, 0 where there is none.

local calls, pace = KEYS[1], KEYS[2]
local call_id, outcome, window_us, least = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

-- Of those that are taken at all, a client may send twice as many as are taken (Google, "Site Reliability Engineering",
-- chapter 21, "Client-Side Throttling", K = 2): a share that does not hang on the load must not bring the fleet to a halt.
local THROTTLED_SHARE = 0.5
local DOWN, UP = 0.7, 1
-- A provider that was asked nothing for so long is asked afresh.
local KEEP_MS = 600000

local function number(field) return tonumber(redis.call('HGET', pace, field) or '0') end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local most = math.max(number('most'), redis.call('ZCARD', calls))
redis.call('ZREM', calls, call_id)
local cap = number('cap')
if outcome == 'failed' then return cap end
redis.call('HINCRBY', pace, outcome, 1)
redis.call('HSET', pace, 'most', most)
redis.call('HSETNX', pace, 'since', string.format('%.0f', now))
redis.call('PEXPIRE', pace, KEEP_MS)
local answered, throttled = number('answered'), number('throttled')
if now - number('since') < window_us or answered + throttled < least then return cap end

if throttled > THROTTLED_SHARE * (answered + throttled) then
  cap = math.max(1, math.floor(DOWN * (cap > 0 and math.min(cap, most) or most)))
elseif cap > 0 then
  cap = cap + UP
  -- It binds nobody any more.
  if cap > 2 * most then cap = 0 end
end
redis.call('DEL', pace)
if cap > 0 then
  redis.call('HSET', pace, 'cap', cap)
  redis.call('PEXPIRE', pace, KEEP_MS)
end
return cap
