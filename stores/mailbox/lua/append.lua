-- Park a turn behind the others of its subject, once per turn id.
-- ARGV: [4] turn_id, [5] digest, [6] body, [7] look_after_us: when a sweeper looks whether anybody has taken it.
-- Returns {"added" | "pending" | "done" | "conflict", 1 where a message must be sent, pending turns of all subjects}.

local turn_id, digest, body, look_after_us = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])

local function answer(appended, notify)
  return {appended, notify and 1 or 0, tonumber(redis.call('GET', pending_turns) or '0')}
end

local seen = redis.call('HGET', done, turn_id)
if seen then return answer(seen == digest and 'done' or 'conflict') end
local parked = redis.call('HGET', turns, turn_id)
if parked and string.sub(parked, 1, DIGEST_CHARS) ~= digest then return answer('conflict') end
if not parked then
  redis.call('HSET', turns, turn_id, digest .. string.format('%016.0f', now) .. body)
  redis.call('RPUSH', order, turn_id)
  redis.call('INCR', pending_turns)
  redis.call('ZADD', pending_subjects, 'NX', now + look_after_us, subject)
  redis.call('ZADD', oldest_turns, 'NX', now, subject)
end
local _, had_no_slot = take_slot(subject, now + notified_us)
return answer(parked and 'pending' or 'added', had_no_slot)
