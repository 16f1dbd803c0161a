-- Take the lease and the oldest turns.
-- ARGV: [4] lease_ms, [5] limit: how many turns at most, [6] fence_seconds.
-- Returns {"taken", token, "", outages in a row, turns}, or {why not, "", subject to notify}.

local lease_ms, limit, fence_seconds = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]

if redis.call('EXISTS', lease) == 1 then return {'leased', '', ''} end
if redis.call('LLEN', order) == 0 then
  forget_subject()
  return {'empty', '', free_slot()}
end
if redis.call('EXISTS', retry) == 1 then return {'backing off', '', free_slot()} end
if not take_slot(subject, now + lease_ms * 1000) then return {'no slot', '', ''} end
local token = give_lease(lease_ms, fence_seconds)
sweep_at(now + lease_ms * 1000)
local taken, outages = take_turns(limit)
return {'taken', token, '', outages, taken}
