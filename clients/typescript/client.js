// The client of an Afterturn service. What it takes and answers is typed in client.d.ts.

const LONGEST_PAUSE_MS = 10_000;
const LONGEST_LISTENING_PAUSE_MS = 30_000;
// Characters that the service takes: what somebody typed or pasted may have more.
const LONGEST_QUERY = 2_000;
const LONGEST_QUESTION = 4_000;
const TO_TRY_AGAIN = new Set([408, 425, 429, 502, 503, 504]);

/** A request that the service did not do. */
export class RequestFailed extends Error {
  constructor(status, detail, { errors = [], requestId = null, retryAfter = null } = {}) {
    const fields = errors.map((wrong) => `${wrong.field}: ${wrong.message}`).join("; ");
    super([status ? `${status}` : "no answer", detail, fields].filter(Boolean).join(": "));
    this.name = "RequestFailed";
    this.status = status;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }

  /** Whether the service, or a part of it, is away: the same request may work later. */
  get isAway() {
    return this.status === 0 || TO_TRY_AGAIN.has(this.status);
  }
}

/** An Afterturn service. Make one per process, and share it. */
export class Client {
  #url;
  #key;
  #timeout;
  #attempts;
  #lanes = new Map();

  constructor(url, key = undefined, { timeout = 10_000, attempts = 3 } = {}) {
    const parsed = new URL(url);
    if (!["http:", "https:"].includes(parsed.protocol) || parsed.search || parsed.hash) {
      throw new TypeError("url should be where the service is, such as https://memory.example.com");
    }
    this.#url = url.replace(/\/+$/, "");
    this.#key = key;
    this.#timeout = timeout;
    this.#attempts = attempts;
  }

  /** Hand a turn over. A user's turns go one by one and in the order in which they were given. */
  enqueue(userId, messages, { waited_seconds = 0, ...options } = {}) {
    // Made here where they are not given: a turn that is sent again is the same turn by them.
    const turn_id = options.turn_id ?? crypto.randomUUID();
    const occurred_at = options.occurred_at ?? new Date().toISOString();
    const body = { ...options, turn_id, occurred_at, user_id: userId ?? undefined, messages };
    const given = performance.now();
    const waited = () => ({
      "Afterturn-Waited-Seconds": (waited_seconds + (performance.now() - given) / 1000).toFixed(3),
    });
    const send = () => this.#send("POST", "/api/v1/turns", { body, headers: waited, harmless: true });
    const before = this.#lanes.get(userId) ?? Promise.resolve();
    const sent = before.then(send, send);
    this.#lanes.set(userId, sent);
    const leave = () => this.#lanes.get(userId) === sent && this.#lanes.delete(userId);
    sent.then(leave, leave);
    return sent;
  }

  search(userId, query, filters = {}) {
    const params = { query: query?.slice(0, LONGEST_QUERY), user_id: userId, ...filters };
    return this.#send("GET", "/api/v1/memories/search", { params, harmless: true });
  }

  context(userId, question = "", { subjectId = userId, ...options } = {}) {
    const params = { question: question?.slice(0, LONGEST_QUESTION) || undefined, user_id: userId, ...options };
    return this.#send("GET", `/api/v1/subjects/${segment(subjectId)}/context`, { params, harmless: true });
  }

  remember(userId, content, options = {}) {
    return this.#send("POST", "/api/v1/memories/", { body: { ...options, content, user_id: userId ?? undefined } });
  }

  async *memories(userId, filters = {}) {
    let cursor;
    do {
      const params = { limit: 100, ...filters, user_id: userId, cursor };
      const page = await this.#send("GET", "/api/v1/memories/", { params, harmless: true });
      yield* page.items;
      cursor = page.cursor;
    } while (cursor);
  }

  get(userId, memoryId) {
    return this.#send("GET", one(memoryId), { params: { user_id: userId }, harmless: true });
  }

  edit(userId, memoryId, version, changes) {
    const headers = () => (version == null ? {} : { "If-Match": `"${version}"` });
    return this.#send("PATCH", one(memoryId), { params: { user_id: userId }, body: changes, headers });
  }

  forget(userId, memoryId) {
    return this.#send("DELETE", one(memoryId), { params: { user_id: userId } });
  }

  forgetUser(userId) {
    const path = `/api/v1/subjects/${segment(userId)}`;
    return this.#send("DELETE", path, { params: { user_id: userId } });
  }

  async *events(userId, { after, signal } = {}) {
    let last = after;
    let failures = 0;
    let wasConnected = false;
    while (!signal?.aborted) {
      try {
        const response = await this.#stream(userId, last, signal);
        if (wasConnected && last === undefined) yield { id: "", name: "gap", data: { after: null } };
        wasConnected = true;
        failures = 0;
        for await (const event of parsed(response.body)) {
          if (event.id) last = event.id;
          if (event.data !== undefined) yield { id: last ?? "", name: event.name, data: event.data };
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof RequestFailed && !error.isAway) throw error;
        if (!(error instanceof RequestFailed) && !(error instanceof TypeError)) throw error;
      }
      failures += 1;
      await pause(Math.min(LONGEST_LISTENING_PAUSE_MS, 500 * 2 ** (failures - 1)), signal);
    }
  }

  async #stream(userId, after, signal) {
    const headers = { Accept: "text/event-stream", ...(after === undefined ? {} : { "Last-Event-ID": after }) };
    const response = await fetch(this.#address("/api/v1/events", { user_id: userId }), {
      headers: this.#headers(headers),
      signal,
    });
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  async #send(method, path, { params = {}, body, headers = () => ({}), harmless = false }) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(method, path, params, body, headers());
      } catch (error) {
        // A service that says 503 has done nothing; of what was cut off nobody knows.
        const mayGoAgain = harmless ? error.isAway : error.status === 503 || error.status === 429;
        const wait = (error.retryAfter ?? 0.25 * 2 ** (attempt - 1)) * 1000;
        if (!mayGoAgain || attempt >= this.#attempts || wait > LONGEST_PAUSE_MS) throw error;
        await pause(wait);
      }
    }
  }

  async #once(method, path, params, body, headers) {
    let response;
    try {
      response = await fetch(this.#address(path, params), {
        method,
        headers: this.#headers(body === undefined ? headers : { ...headers, "Content-Type": "application/json" }),
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(this.#timeout),
      });
      if (response.ok) return response.status === 204 ? undefined : await response.json();
    } catch (error) {
      throw new RequestFailed(0, `the service did not answer (${error.cause?.code ?? error.name})`);
    }
    throw await failureOf(response);
  }

  #address(path, params) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) {
      if (value === undefined || value === null) continue;
      // Of tags all are meant, and they go as one; of the others any, and each goes by itself.
      const values = Array.isArray(value) ? (name === "tags" ? [value.join(",")] : value) : [value];
      for (const each of values) query.append(name, each instanceof Date ? each.toISOString() : String(each));
    }
    const asked = query.toString();
    return `${this.#url}${path}${asked ? `?${asked}` : ""}`;
  }

  #headers(more) {
    return { ...(this.#key ? { "X-API-Key": this.#key } : {}), ...more };
  }
}

async function failureOf(response) {
  const said = await response.json().catch(() => ({}));
  const after = response.headers.get("Retry-After");
  return new RequestFailed(response.status, said.detail ?? response.statusText, {
    errors: said.errors,
    requestId: response.headers.get("X-Request-ID"),
    retryAfter: after && /^\d+$/.test(after) ? Number(after) : null,
  });
}

/** Yield the events of a stream by the rules of the HTML standard, "Interpreting an event stream". */
async function* parsed(body) {
  const decoder = new TextDecoder();
  let rest = "";
  let event = { name: "message", data: [] };
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the end may be half of a CRLF.
    const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
    const lines = whole.split(/\r\n|\r|\n/);
    rest = lines.pop() + rest.slice(whole.length);
    for (const line of lines) {
      if (line === "") {
        const data = event.data.length ? JSON.parse(event.data.join("\n")) : undefined;
        yield { id: event.id, name: event.name, data };
        event = { name: "message", data: [] };
        continue;
      }
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") event.name = value;
      else if (name === "data") event.data.push(value);
      else if (name === "id" && !value.includes("\0")) event.id = value;
    }
  }
}

function pause(milliseconds, signal = undefined) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

function one(memoryId) {
  if (!/^[0-9a-f-]{32,36}$/i.test(memoryId)) throw new TypeError("memoryId should be a UUID");
  return `/api/v1/memories/${memoryId}`;
}

function segment(name) {
  // `fetch` would resolve dots, encoded ones too: a user named ".." must not become another path.
  if (/^\.{1,2}$/.test(name)) throw new TypeError("a user named by dots alone has no path");
  return encodeURIComponent(name);
}
