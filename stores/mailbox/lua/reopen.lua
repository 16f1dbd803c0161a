-- Forget that a turn with this content was lately processed.
-- ARGV: [4] turn_id, [5] digest, [6] content.
-- Returns 1 where it was known, else 0.

local turn_id, digest, content = ARGV[4], ARGV[5], ARGV[6]

local seen = redis.call('HGET', done, turn_id)
if not seen or not is_same(turn_id, seen, digest, content) then return 0 end
return redis.call('HDEL', done, turn_id)
