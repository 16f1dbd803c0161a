-- Forget that a turn with this content was lately processed.
-- ARGV: [4] turn_id, [5] digest.
-- Returns 1 where it was known, else 0.

local turn_id, digest = ARGV[4], ARGV[5]

if redis.call('HGET', done, turn_id) ~= digest then return 0 end
return redis.call('HDEL', done, turn_id)
