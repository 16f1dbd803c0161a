-- Take the lease alone, for work that no turn asks for. It needs no slot: it brings no turns of its own to the front.
-- ARGV: [4] lease_ms, [5] fence_seconds, [6] "1" to give way to pending turns.
-- Returns the token, empty where it is not to be had.

local lease_ms, fence_seconds, turns_first = tonumber(ARGV[4]), ARGV[5], ARGV[6] == '1'

if redis.call('EXISTS', lease) == 1 then return '' end
local has_turns = redis.call('LLEN', order) > 0
if has_turns and turns_first then return '' end
if has_turns then sweep_at(now + lease_ms * 1000) end
return give_lease(lease_ms, fence_seconds)
