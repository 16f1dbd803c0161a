-- Find subjects whose turns nobody has taken in time.
-- ARGV: [4] limit: how many subjects to look at, [5] look_again_us: none of them is due again for so long.
-- Returns those of them that got a slot, longest due first.

local limit, look_again_us = ARGV[4], tonumber(ARGV[5])

local found = {}
for _, due in ipairs(redis.call('ZRANGE', pending_subjects, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)) do
  redis.call('ZADD', pending_subjects, now + look_again_us, due)
  if take_slot(due, now + notified_us) then table.insert(found, due) end
end
return found
