-- Take a token from a bucket that fills steadily; one that nobody has used yet is full.
-- KEYS: [1] the bucket. ARGV: [1] tokens that it holds, [2] microseconds in which it fills from empty.
-- Returns {1 where a token was taken, else 0, whole tokens left, microseconds until there is one more}.

local bucket, capacity, fill_us = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local known = redis.call('HMGET', bucket, 'tokens', 'at')
local tokens = capacity
if known[1] then
  local came = math.max(0, now - tonumber(known[2])) * capacity / fill_us
  tokens = math.min(capacity, tonumber(known[1]) + came)
end
local taken = tokens >= 1
if taken then tokens = tokens - 1 end
redis.call('HSET', bucket, 'tokens', string.format('%.17g', tokens), 'at', string.format('%.0f', now))
-- By then it is full again, as one that nobody has used.
redis.call('PEXPIRE', bucket, math.ceil(fill_us / 1000))
return {taken and 1 or 0, math.floor(tokens), math.ceil((math.floor(tokens) + 1 - tokens) * fill_us / capacity)}
