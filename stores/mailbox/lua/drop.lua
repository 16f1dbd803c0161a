-- Drop turns that were erased, and keep the lease.
-- ARGV: [4] token, [5] done_seconds: for how long a dropped turn is known, [6] ... ids of the turns to drop.
-- Returns 1, or 0 where the lease is lost.

local token, done_seconds = ARGV[4], tonumber(ARGV[5])
local FIRST_ID = 6

if redis.call('GET', lease) ~= token then return 0 end
drop_turns(FIRST_ID, done_seconds)
return 1
