-- Let a call of the language model begin, if the fleet's caps allow one more.
-- KEYS: [1] calls: sorted set of the calls under way -> when each counts as over, [2] started: sorted set of the calls
-- begun within the last minute -> when, [3] pace: hash, see leave.lua.
-- ARGV: [1] call_id, [2] concurrency, [3] per_minute (0 means no cap), [4] call_us: after which a call counts as over,
-- [5] minute_us.
-- Returns 1, or 0 where the call must wait.

local calls, started, pace = KEYS[1], KEYS[2], KEYS[3]
local call_id, concurrency, per_minute = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local call_us, minute_us = tonumber(ARGV[4]), tonumber(ARGV[5])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

redis.call('ZREMRANGEBYSCORE', calls, '-inf', now)
local under_way = redis.call('ZCARD', calls)
if concurrency > 0 and under_way >= concurrency then return 0 end
local found_out = tonumber(redis.call('HGET', pace, 'cap') or '0')
if found_out > 0 and under_way >= found_out then return 0 end
if per_minute > 0 then
  redis.call('ZREMRANGEBYSCORE', started, '-inf', now - minute_us)
  if redis.call('ZCARD', started) >= per_minute then return 0 end
  redis.call('ZADD', started, now, call_id)
  redis.call('PEXPIRE', started, math.ceil(minute_us / 1000))
end
redis.call('ZADD', calls, now + call_us, call_id)
redis.call('PEXPIRE', calls, math.ceil(call_us / 1000))
return 1
