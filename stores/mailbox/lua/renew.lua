-- Keep a lease for longer.
-- ARGV: [4] token, [5] lease_ms.
-- Returns 1, or 0 where the lease is lost.

local token, lease_ms = ARGV[4], tonumber(ARGV[5])

if redis.call('GET', lease) ~= token then return 0 end
redis.call('PEXPIRE', lease, lease_ms)
-- Who has it without turns takes nobody's slot.
if redis.call('LLEN', order) == 0 then return 1 end
sweep_at(now + lease_ms * 1000)
take_slot(subject, now + lease_ms * 1000)
return 1
