-- Drop processed turns, and take the next ones under the renewed lease, or release it; release it, too, where somebody
-- asked for the subject to be held back.
-- ARGV: [4] token, [5] lease_ms, [6] limit: how many turns to take at most, 0 to release, [7] done_seconds: for how long
-- a dropped turn is known, [8] ... ids of the turns to drop.
-- Returns {"taken", token, "", outages in a row, turns}, or {"released" | "lost", "", subject to notify}.

local token, lease_ms, limit, done_seconds = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local FIRST_ID = 8

if redis.call('GET', lease) ~= token then return {'lost', '', ''} end
local remaining = drop_turns(FIRST_ID, done_seconds)
if limit > 0 and remaining > 0 and redis.call('EXISTS', retry) == 0 then
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
