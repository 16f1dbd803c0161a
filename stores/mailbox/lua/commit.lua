-- Drop processed turns, and take the next ones under the renewed lease, or release it.
-- ARGV: [4] token, [5] lease_ms, [6] limit: how many turns to take at most, 0 to release, [7] done_seconds: for how long
-- a dropped turn is known, [8] ... ids of the turns to drop.
-- Returns {"taken", token, "", outages in a row, turns}, or {"released" | "lost", "", subject to notify}.

local token, lease_ms, limit, done_seconds = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local FIRST_ID = 8

if redis.call('GET', lease) ~= token then return {'lost', '', ''} end
for position = FIRST_ID, #ARGV do
  local id = ARGV[position]
  local parked = redis.call('HGET', turns, id)
  if parked then
    redis.call('HSET', done, id, string.sub(parked, 1, DIGEST_CHARS))
    redis.call('LREM', order, 1, id)
    redis.call('HDEL', turns, id)
    redis.call('HDEL', deliveries, id)
    redis.call('HDEL', failures, id, OUTAGES)
    if redis.call('DECR', pending_turns) <= 0 then redis.call('DEL', pending_turns) end
  end
end
if #ARGV >= FIRST_ID then redis.call('EXPIRE', done, done_seconds) end
local remaining = redis.call('LLEN', order)
if remaining > 0 then
  local parked = redis.call('HGET', turns, redis.call('LINDEX', order, 0))
  local arrived = string.sub(parked, DIGEST_CHARS + 1, DIGEST_CHARS + ARRIVAL_CHARS)
  redis.call('ZADD', oldest_turns, tonumber(arrived), subject)
end
if limit > 0 and remaining > 0 then
  redis.call('PEXPIRE', lease, lease_ms)
  sweep_at(now + lease_ms * 1000)
  take_slot(subject, now + lease_ms * 1000)
  local taken, outages = take_turns(limit)
  return {'taken', token, '', outages, taken}
end
redis.call('DEL', lease)
if remaining == 0 then
  forget_subject()
  return {'released', '', free_slot()}
end
-- It has had its share for now: whoever of its tenant waits longest is next, which may be itself.
local _, wait_queue = slots_and_wait_queue_of(subject)
enter_wait_queue(wait_queue, subject)
sweep_at(now + notified_us)
return {'released', '', free_slot()}
