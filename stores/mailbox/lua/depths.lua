-- Count what waits.
-- ARGV: [4] ... names of message queues.
-- Returns {now in microseconds, pending turns, pending subjects, subjects that wait for a slot, for how many
-- microseconds the oldest turn has waited, messages of each queue ...}.

local FIRST_QUEUE = 4

local waiting = 0
for _, wait_queue in ipairs(redis.call('SMEMBERS', wait_queues)) do
  local members = redis.call('ZCARD', wait_queue)
  if members == 0 then redis.call('SREM', wait_queues, wait_queue) end
  waiting = waiting + members
end
local oldest = tonumber(redis.call('ZRANGE', oldest_turns, 0, 0, 'WITHSCORES')[2] or now)
local turns_in_all = tonumber(redis.call('GET', pending_turns) or '0')
local answer = {now, turns_in_all, redis.call('ZCARD', pending_subjects), waiting, now - oldest}
for position = FIRST_QUEUE, #ARGV do
  table.insert(answer, redis.call('LLEN', ARGV[position]))
end
return answer
