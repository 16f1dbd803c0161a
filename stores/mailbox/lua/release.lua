-- Give turns back with nothing dropped, and back off.
-- ARGV: [4] token, [5] wait_ms: how long nobody takes the subject, [6] "1" to count a failure of the turns, otherwise an
-- outage, [7] ... ids of the turns that were taken.
-- Returns {"released" | "lost", "", subject to notify}.

local token, wait_ms, blamed = ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1'
local FIRST_ID = 7

if redis.call('GET', lease) ~= token then return {'lost', '', ''} end
for position = FIRST_ID, #ARGV do
  local id = ARGV[position]
  -- The worker lives: this delivery killed nobody.
  if redis.call('HINCRBY', deliveries, id, -1) <= 0 then redis.call('HDEL', deliveries, id) end
  if blamed then redis.call('HINCRBY', failures, id, 1) end
end
if not blamed and #ARGV >= FIRST_ID then redis.call('HINCRBY', failures, OUTAGES, 1) end
redis.call('DEL', lease)
if wait_ms > 0 then redis.call('SET', retry, '1', 'PX', wait_ms) end
sweep_at(now + wait_ms * 1000)
return {'released', '', free_slot()}
