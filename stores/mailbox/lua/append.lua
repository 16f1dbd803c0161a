-- Park a turn behind the others of its subject, once per turn id.
-- ARGV: [4] turn_id, [5] digest, [6] body, [7] look_after_us: when a sweeper looks whether anybody has taken it.
--   [8] user_quota, [9] tenant_quota: new turns a minute that are taken; 0 for any number. [10] content: the digest
--   without when it was said, [11] content_seconds: for how long it is known that nobody drops the turn.
--   [12] waited_us: for how long it lay in a spool.
-- Returns {"added" | "pending" | "done" | "conflict", 1 where a message must be sent, pending turns of all subjects}, or
-- {"user" | "tenant", milliseconds until the quota of it has room, pending turns}: the turn was not parked.

local turn_id, digest, body, look_after_us = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local user_quota, tenant_quota = tonumber(ARGV[8]), tonumber(ARGV[9])
local content, content_seconds, waited_us = ARGV[10], ARGV[11], tonumber(ARGV[12])
local tenant_minute = 'afterturn:mailbox:minute:{' .. string.match(subject, '^[^:]*') .. '}'

local function answer(appended, notify)
  return {appended, notify and 1 or 0, tonumber(redis.call('GET', pending_turns) or '0')}
end

local seen = redis.call('HGET', done, turn_id)
if seen then return answer(is_same(turn_id, seen, digest, content) and 'done' or 'conflict') end
local parked = redis.call('HGET', turns, turn_id)
if parked and not is_same(turn_id, string.sub(parked, 1, DIGEST_CHARS), digest, content) then
  return answer('conflict')
end

-- A minute begins with its first turn. Whose quota is full is noted, once a minute, for a worker to tell.
local function is_full(minute, quota) return quota > 0 and tonumber(redis.call('GET', minute) or '0') >= quota end
local function refuse(scope, minute)
  local told = minute .. ':told'
  local left_ms = math.max(redis.call('PTTL', minute), 1)
  if redis.call('SET', told, 1, 'NX', 'PX', left_ms) then redis.call('SADD', over_quota, scope .. ' ' .. subject) end
  return {scope, left_ms, tonumber(redis.call('GET', pending_turns) or '0')}
end
local function count(minute)
  if redis.call('INCR', minute) == 1 then redis.call('PEXPIRE', minute, MINUTE_MS) end
end

if not parked then
  if is_full(user_minute, user_quota) then return refuse('user', user_minute) end
  if is_full(tenant_minute, tenant_quota) then return refuse('tenant', tenant_minute) end
  if user_quota > 0 then count(user_minute) end
  if tenant_quota > 0 then count(tenant_minute) end
  redis.call('HSET', turns, turn_id, digest .. string.format('%016.0f', now) .. body)
  redis.call('HSET', contents, turn_id, content)
  redis.call('EXPIRE', contents, content_seconds)
  if waited_us > 0 then
    redis.call('HSET', enqueued, turn_id, string.format('%.0f', now - waited_us))
    redis.call('EXPIRE', enqueued, content_seconds)
  end
  redis.call('RPUSH', order, turn_id)
  redis.call('INCR', pending_turns)
  redis.call('ZADD', pending_subjects, 'NX', now + look_after_us, subject)
  redis.call('ZADD', oldest_turns, 'NX', now, subject)
end
local _, had_no_slot = take_slot(subject, now + notified_us)
return answer(parked and 'pending' or 'added', had_no_slot)
