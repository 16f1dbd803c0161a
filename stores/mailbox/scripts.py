"""The mailbox's moves as Lua scripts.

What lies where, a subject each (`docs/reference/redis-keys.md`):

    order       list of pending turn ids, oldest first
    turns       hash of turn id -> digest (64 characters), arrival (16) and body
    deliveries  hash of turn id -> how often a worker took it and was not heard of again
    failures    hash of turn id -> how often it failed in a way that may pass; "*" counts those that were not its fault
    done        hash of turn id -> digest, of turns lately dropped: a late message for one of them is no work
    lease       the token of the worker that holds the mailbox; expires
    fence       the last token given; the next is greater
    retry       stands while the subject is backing off

and over all subjects

    DIRTY       sorted set of the subjects with pending turns, scored by when a sweeper looks at them
    HEADS       sorted set of the same subjects, scored by when the oldest of their turns came
    PENDING     how many turns are pending in all
    seats       a tenant each: sorted set of its seated subjects, scored by when the seat is free again by itself
    line        a tenant each: sorted set of its subjects that wait for a seat, scored by when they came
    LINES       set of the tenants' lines that may have somebody in them

Every script gets the subject's key as ARGV[1], the tenant's number of seats as ARGV[2] and how long a message may be
under way, in microseconds, as ARGV[3].
"""

PREFIX = "afterturn:mailbox:"
DIRTY = f"{PREFIX}dirty"
HEADS = f"{PREFIX}heads"
LINES = f"{PREFIX}lines"
PENDING = f"{PREFIX}pending"
SUBJECT_PARTS = ("order", "turns", "deliveries", "failures", "done", "lease", "fence", "retry")
OUTAGES = "*"

_LINE_SECONDS = 86_400
"""The line may be lost: the dirty set has all who stand in it."""

# Redis' clock in microseconds fits a double exactly until the year 2255.
_COMMON = f"""
local order, turns, deliveries, failures, done, lease, fence, retry = unpack(KEYS)
local DIRTY, HEADS, LINES, PENDING = '{DIRTY}', '{HEADS}', '{LINES}', '{PENDING}'
local subject, seats_a_tenant, under_way_us = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]

local function of_tenant(subject, what)
  return '{PREFIX}' .. what .. ':{{' .. string.match(subject, '^[^:]*') .. '}}'
end

local function stand_in_line(line, subject)
  redis.call('ZADD', line, 'NX', now, subject)
  redis.call('EXPIRE', line, {_LINE_SECONDS})
  redis.call('SADD', LINES, line)
  redis.call('EXPIRE', LINES, {_LINE_SECONDS})
end

-- Seat a subject until a moment, or put it in line when its tenant has no seat left. True if it was not seated before.
local function seat(subject, till)
  local seats, line = of_tenant(subject, 'seats'), of_tenant(subject, 'line')
  redis.call('ZREMRANGEBYSCORE', seats, '-inf', now)
  local seated = redis.call('ZSCORE', seats, subject)
  if not seated and redis.call('ZCARD', seats) >= seats_a_tenant then
    stand_in_line(line, subject)
    return false, false
  end
  redis.call('ZADD', seats, till, subject)
  redis.call('EXPIRE', seats, {_LINE_SECONDS})
  redis.call('ZREM', line, subject)
  return true, not seated
end

-- Give the subject's lease, and answer its token: greater than any before, also where the fence has expired.
local function give(lease_ms, fence_seconds)
  local token = string.format('%.0f', math.max(now, tonumber(redis.call('GET', fence) or '0') + 1))
  redis.call('SET', fence, token, 'EX', fence_seconds)
  redis.call('SET', lease, token, 'PX', lease_ms)
  return token
end

-- The subject has no pending turn any more.
local function clean()
  redis.call('ZREM', DIRTY, subject)
  redis.call('ZREM', HEADS, subject)
end

-- Free a subject's seat for the next in its tenant's line, and answer who that is.
local function leave()
  local seats, line = of_tenant(subject, 'seats'), of_tenant(subject, 'line')
  redis.call('ZREM', seats, subject)
  redis.call('ZREMRANGEBYSCORE', seats, '-inf', now)
  if redis.call('ZCARD', seats) >= seats_a_tenant then return '' end
  local following = redis.call('ZPOPMIN', line)[1]
  if following then seat(following, now + under_way_us) end
  return following or ''
end
"""

# A turn that was taken before and not committed may be what killed its worker or what fails: it is taken alone, so
# that its neighbours share neither its counts nor its end.
_TAKE = f"""
local function take(limit)
  local taken = {{}}
  for place, id in ipairs(redis.call('LRANGE', order, 0, limit - 1)) do
    local before = tonumber(redis.call('HGET', deliveries, id) or '0')
    local failed = tonumber(redis.call('HGET', failures, id) or '0')
    local alone = before > 0 or failed > 0
    if alone and place > 1 then break end
    redis.call('HINCRBY', deliveries, id, 1)
    for _, value in ipairs({{id, redis.call('HGET', turns, id), before + 1, failed}}) do table.insert(taken, value) end
    if alone then break end
  end
  return taken, tonumber(redis.call('HGET', failures, '{OUTAGES}') or '0')
end
"""

_APPEND = (
    _COMMON
    + """
local turn_id, digest, body, look_after_us = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local function answer(what, ring) return {what, ring and 1 or 0, tonumber(redis.call('GET', PENDING) or '0')} end
local seen = redis.call('HGET', done, turn_id)
if seen then return answer(seen == digest and 'done' or 'conflict') end
local parked = redis.call('HGET', turns, turn_id)
if parked and string.sub(parked, 1, 64) ~= digest then return answer('conflict') end
if not parked then
  redis.call('HSET', turns, turn_id, digest .. string.format('%016.0f', now) .. body)
  redis.call('RPUSH', order, turn_id)
  redis.call('INCR', PENDING)
  redis.call('ZADD', DIRTY, 'NX', now + look_after_us, subject)
  redis.call('ZADD', HEADS, 'NX', now, subject)
end
local _, newly = seat(subject, now + under_way_us)
return answer(parked and 'pending' or 'added', newly)
"""
)

_ACQUIRE = (
    _COMMON
    + _TAKE
    + """
local lease_ms, limit, fence_seconds = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
if redis.call('EXISTS', lease) == 1 then return {'held', '', ''} end
if redis.call('LLEN', order) == 0 then
  clean()
  return {'empty', '', leave()}
end
if redis.call('EXISTS', retry) == 1 then return {'waiting', '', leave()} end
if not seat(subject, now + lease_ms * 1000) then return {'in line', '', ''} end
local token = give(lease_ms, fence_seconds)
redis.call('ZADD', DIRTY, now + lease_ms * 1000, subject)
local taken, outages = take(limit)
return {'taken', token, '', outages, taken}
"""
)

# For work that no turn asks for: the lease alone. It needs no seat, since it brings no turns of its own to the front.
_ACQUIRE_LEASE = (
    _COMMON
    + """
local lease_ms, fence_seconds, turns_first = tonumber(ARGV[4]), ARGV[5], ARGV[6] == '1'
if redis.call('EXISTS', lease) == 1 then return '' end
local waiting = redis.call('LLEN', order) > 0
if waiting and turns_first then return '' end
if waiting then redis.call('ZADD', DIRTY, now + lease_ms * 1000, subject) end
return give(lease_ms, fence_seconds)
"""
)

_RELEASE_LEASE = (
    _COMMON
    + """
if redis.call('GET', lease) ~= ARGV[4] then return {'lost', '', ''} end
redis.call('DEL', lease)
if redis.call('LLEN', order) == 0 then
  clean()
  return {'released', '', leave()}
end
-- Whoever came for these turns found the mailbox held and went away.
redis.call('ZADD', DIRTY, now + under_way_us, subject)
return {'released', '', seat(subject, now + under_way_us) and subject or ''}
"""
)

_COMMIT = (
    _COMMON
    + _TAKE
    + """
local token, lease_ms, limit, done_seconds = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
if redis.call('GET', lease) ~= token then return {'lost', '', ''} end
for place = 8, #ARGV do
  local id = ARGV[place]
  local parked = redis.call('HGET', turns, id)
  if parked then
    redis.call('HSET', done, id, string.sub(parked, 1, 64))
    redis.call('LREM', order, 1, id)
    redis.call('HDEL', turns, id)
    redis.call('HDEL', deliveries, id)
    redis.call('HDEL', failures, id, '*')
    if redis.call('DECR', PENDING) <= 0 then redis.call('DEL', PENDING) end
  end
end
if #ARGV >= 8 then redis.call('EXPIRE', done, done_seconds) end
local left = redis.call('LLEN', order)
if left > 0 then
  local parked = redis.call('HGET', turns, redis.call('LINDEX', order, 0))
  redis.call('ZADD', HEADS, tonumber(string.sub(parked, 65, 80)), subject)
end
if limit > 0 and left > 0 then
  redis.call('PEXPIRE', lease, lease_ms)
  redis.call('ZADD', DIRTY, now + lease_ms * 1000, subject)
  seat(subject, now + lease_ms * 1000)
  local taken, outages = take(limit)
  return {'taken', token, '', outages, taken}
end
redis.call('DEL', lease)
if left == 0 then
  clean()
  return {'released', '', leave()}
end
-- Its turn is over for now: whoever of its tenant waits longest is next, which may be itself.
stand_in_line(of_tenant(subject, 'line'), subject)
redis.call('ZADD', DIRTY, now + under_way_us, subject)
return {'released', '', leave()}
"""
)

_RENEW = (
    _COMMON
    + """
local token, lease_ms = ARGV[4], tonumber(ARGV[5])
if redis.call('GET', lease) ~= token then return 0 end
redis.call('PEXPIRE', lease, lease_ms)
-- Who holds it without turns takes nobody's seat.
if redis.call('LLEN', order) == 0 then return 1 end
redis.call('ZADD', DIRTY, now + lease_ms * 1000, subject)
seat(subject, now + lease_ms * 1000)
return 1
"""
)

_RELEASE = (
    _COMMON
    + """
local token, wait_ms, blamed = ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1'
if redis.call('GET', lease) ~= token then return {'lost', '', ''} end
for place = 7, #ARGV do
  local id = ARGV[place]
  -- The worker lives: this delivery killed nobody.
  if redis.call('HINCRBY', deliveries, id, -1) <= 0 then redis.call('HDEL', deliveries, id) end
  if blamed then redis.call('HINCRBY', failures, id, 1) end
end
if not blamed and #ARGV >= 7 then redis.call('HINCRBY', failures, '*', 1) end
redis.call('DEL', lease)
if wait_ms > 0 then redis.call('SET', retry, '1', 'PX', wait_ms) end
redis.call('ZADD', DIRTY, now + wait_ms * 1000, subject)
return {'released', '', leave()}
"""
)

_REOPEN = (
    _COMMON
    + """
if redis.call('HGET', done, ARGV[4]) ~= ARGV[5] then return 0 end
return redis.call('HDEL', done, ARGV[4])
"""
)

_DUE = (
    _COMMON
    + """
local limit, again_us = ARGV[4], tonumber(ARGV[5])
local found = {}
for _, due in ipairs(redis.call('ZRANGE', DIRTY, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)) do
  redis.call('ZADD', DIRTY, now + again_us, due)
  if seat(due, now + under_way_us) then table.insert(found, due) end
end
return found
"""
)

_DEPTHS = (
    _COMMON
    + """
local in_line = 0
for _, line in ipairs(redis.call('SMEMBERS', LINES)) do
  local standing = redis.call('ZCARD', line)
  if standing == 0 then redis.call('SREM', LINES, line) end
  in_line = in_line + standing
end
local oldest = tonumber(redis.call('ZRANGE', HEADS, 0, 0, 'WITHSCORES')[2] or now)
local answer = {now, tonumber(redis.call('GET', PENDING) or '0'), redis.call('ZCARD', DIRTY), in_line, now - oldest}
for place = 4, #ARGV do table.insert(answer, redis.call('LLEN', ARGV[place])) end
return answer
"""
)

ALL = {
    "append": _APPEND,
    "acquire": _ACQUIRE,
    "acquire_lease": _ACQUIRE_LEASE,
    "release_lease": _RELEASE_LEASE,
    "commit": _COMMIT,
    "renew": _RENEW,
    "release": _RELEASE,
    "reopen": _REOPEN,
    "due": _DUE,
    "depths": _DEPTHS,
}
"""Every script by the name of its move."""
