-- What every script of the mailbox begins with. Redis runs a script whole: nobody ever sees half of a move.
--
-- KEYS, over all subjects:
--   [1] pending_subjects  sorted set: every subject with pending turns -> when a sweeper looks at it
--   [2] oldest_turns      sorted set: the same subjects -> when the oldest of their turns came
--   [3] wait_queues       set: the keys of the tenants' wait queues that may have somebody in them
--   [4] pending_turns     how many turns are pending in all
--   [5] over_quota    set: "user SUBJECT" or "tenant SUBJECT", of whom a turn was refused that nobody has told yet
-- KEYS, of the subject of the call; a script about no subject gets none:
--   [6] order       list of pending turn ids, oldest first
--   [7] turns       hash: turn id -> digest (64 characters), arrival (16) and body
--   [8] deliveries  hash: turn id -> how often a worker took it and was not heard of again
--   [9] failures    hash: turn id -> how often it failed in a way that may pass; "*" -> outages in a row
--   [10] done        hash: turn id -> digest, of turns lately dropped: a late message for one of them is no work
--   [11] lease      the token of the worker that holds the mailbox; expires
--   [12] fence      the last token given; the next is greater
--   [13] retry      stands while the subject is backing off
--   [14] user_minute how many turns of the subject were parked since the minute began; only with a quota
--   [15] contents   hash: turn id -> digest without when it was said, of pending and lately dropped turns. Scripts of
--                   before know turns by the other digest alone, which therefore stays where they look
--   [16] enqueued   hash: turn id -> when it was enqueued, of pending turns that lay in a spool before they came. Scripts
--                   of before leave it alone; it expires
-- ARGV, of every script; its own begin at [4]:
--   [1] subject           the subject's key, empty where the script is about none
--   [2] slots_per_tenant  how many subjects of a tenant may have a slot
--   [3] notified_us       how long a message may be under way, in microseconds
--
-- Beside these each tenant has two sorted sets, whose keys are made of the tenant's name:
--   slots       its subjects that are under way or in work -> when the slot is free again by itself
--   wait queue  its subjects that wait for a slot -> when they came

local pending_subjects, oldest_turns, wait_queues, pending_turns = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local over_quota, order, turns, deliveries, failures = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local done, lease, fence, retry, user_minute = KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]
local contents, enqueued = KEYS[15], KEYS[16]
local subject, slots_per_tenant, notified_us = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local DIGEST_CHARS, ARRIVAL_CHARS = 64, 16
local OUTAGES = '*'
local MINUTE_MS = 60000
-- A wait queue may be lost: the set of pending subjects has all who stand in it.
local WAIT_QUEUE_SECONDS = 86400

-- Redis' clock in microseconds fits a double exactly until the year 2255.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function slots_and_wait_queue_of(member)
  local tenant = '{' .. string.match(member, '^[^:]*') .. '}'
  return 'afterturn:mailbox:seats:' .. tenant, 'afterturn:mailbox:line:' .. tenant
end

local function enter_wait_queue(wait_queue, member)
  redis.call('ZADD', wait_queue, 'NX', now, member)
  redis.call('EXPIRE', wait_queue, WAIT_QUEUE_SECONDS)
  redis.call('SADD', wait_queues, wait_queue)
  redis.call('EXPIRE', wait_queues, WAIT_QUEUE_SECONDS)
end

-- Give a subject a slot until a moment, or put it into the wait queue when its tenant has none left. Returns whether it
-- has one, and whether it had none before.
local function take_slot(member, till_us)
  local slots, wait_queue = slots_and_wait_queue_of(member)
  redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
  local has_slot = redis.call('ZSCORE', slots, member)
  if not has_slot and redis.call('ZCARD', slots) >= slots_per_tenant then
    enter_wait_queue(wait_queue, member)
    return false, false
  end
  redis.call('ZADD', slots, till_us, member)
  redis.call('EXPIRE', slots, WAIT_QUEUE_SECONDS)
  redis.call('ZREM', wait_queue, member)
  return true, not has_slot
end

-- Free the subject's slot for the next in its tenant's wait queue, and return who that is: it must be notified.
local function free_slot()
  local slots, wait_queue = slots_and_wait_queue_of(subject)
  redis.call('ZREM', slots, subject)
  redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
  if redis.call('ZCARD', slots) >= slots_per_tenant then return '' end
  local following = redis.call('ZPOPMIN', wait_queue)[1]
  if following then take_slot(following, now + notified_us) end
  return following or ''
end

local function sweep_at(at_us)
  redis.call('ZADD', pending_subjects, at_us, subject)
end

-- The subject has no pending turn any more.
local function forget_subject()
  redis.call('ZREM', pending_subjects, subject)
  redis.call('ZREM', oldest_turns, subject)
end

-- Give the subject's lease, and return its token: greater than any before, also where the fence has expired.
local function give_lease(lease_ms, fence_seconds)
  local token = string.format('%.0f', math.max(now, tonumber(redis.call('GET', fence) or '0') + 1))
  redis.call('SET', fence, token, 'EX', fence_seconds)
  redis.call('SET', lease, token, 'PX', lease_ms)
  return token
end

-- Whether a turn that was parked under an id is the same as another under it.
local function is_same(turn_id, known_digest, digest, content)
  return known_digest == digest or redis.call('HGET', contents, turn_id) == content
end

-- Take up to `limit` of the oldest turns, each as five values: id, record, deliveries, failures, and when it was enqueued
-- if it was spooled. A turn that was taken before and not committed may be what killed its worker or what fails: it is
-- taken alone, so that its neighbours share neither its counts nor its end. Returns them, and how many outages there were in a row.
local function take_turns(limit)
  local taken = {}
  for position, id in ipairs(redis.call('LRANGE', order, 0, limit - 1)) do
    local delivered = tonumber(redis.call('HGET', deliveries, id) or '0')
    local failed = tonumber(redis.call('HGET', failures, id) or '0')
    local alone = delivered > 0 or failed > 0
    if alone and position > 1 then break end
    redis.call('HINCRBY', deliveries, id, 1)
    local since = redis.call('HGET', enqueued, id)
    for _, value in ipairs({id, redis.call('HGET', turns, id), delivered + 1, failed, since}) do
      table.insert(taken, value)
    end
    if alone then break end
  end
  return taken, tonumber(redis.call('HGET', failures, OUTAGES) or '0')
end

-- Drop the turns whose ids are the arguments from a position on, and know them for a while. Returns how many are left.
local function drop_turns(first, done_seconds)
  for position = first, #ARGV do
    local id = ARGV[position]
    local parked = redis.call('HGET', turns, id)
    if parked then
      redis.call('HSET', done, id, string.sub(parked, 1, DIGEST_CHARS))
      redis.call('LREM', order, 1, id)
      redis.call('HDEL', turns, id)
      redis.call('HDEL', deliveries, id)
      redis.call('HDEL', failures, id, OUTAGES)
      redis.call('HDEL', enqueued, id)
      if redis.call('DECR', pending_turns) <= 0 then redis.call('DEL', pending_turns) end
    end
  end
  if #ARGV >= first then redis.call('EXPIRE', done, done_seconds) end
  local remaining = redis.call('LLEN', order)
  if remaining == 0 then redis.call('EXPIRE', contents, done_seconds) end
  if remaining > 0 then
    local parked = redis.call('HGET', turns, redis.call('LINDEX', order, 0))
    local arrived = string.sub(parked, DIGEST_CHARS + 1, DIGEST_CHARS + ARRIVAL_CHARS)
    redis.call('ZADD', oldest_turns, tonumber(arrived), subject)
  end
  return remaining
end
