-- Give back a lease that brought no turns.
-- ARGV: [4] token.
-- Returns {"released" | "lost", "", subject to notify}.

local token = ARGV[4]

if redis.call('GET', lease) ~= token then return {'lost', '', ''} end
redis.call('DEL', lease)
if redis.call('LLEN', order) == 0 then
  forget_subject()
  return {'released', '', free_slot()}
end
-- Whoever came for these turns found the mailbox leased and went away.
sweep_at(now + notified_us)
return {'released', '', take_slot(subject, now + notified_us) and subject or ''}
