// Against the service that AFTERTURN_URL and AFTERTURN_API_KEY name: tests/e2e/test_typescript_client.py serves one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, RequestFailed } from "../client.js";

const url = process.env.AFTERTURN_URL;
const memory = new Client(url, process.env.AFTERTURN_API_KEY);
let people = 0;
const somebody = () => `node${(people += 1)}`;

async function all(iterable) {
  const found = [];
  for await (const one of iterable) found.push(one);
  return found;
}

test("what is remembered is found, read, edited and forgotten", async () => {
  const user = somebody();
  const { outcome, memory: first } = await memory.remember(user, "Anna plays the violin.", { tags: ["music"] });
  assert.equal(outcome, "created");
  const [hit] = await memory.search(user, "Which instrument does Anna play?", { tags: ["music"], limit: 3 });
  assert.equal(hit.content, "Anna plays the violin.");
  assert.match((await memory.context(user, "What does Anna play?", { tokens: 300 })).text, /violin/);
  const edited = await memory.edit(user, first.memory_id, first.version, { content: "Anna plays the viola." });
  const whole = await memory.get(user, first.memory_id);
  assert.deepEqual({ ...whole, ...edited }, whole);
  assert.deepEqual(whole.related_memories, []);
  await assert.rejects(memory.edit(user, first.memory_id, first.version, { content: "No." }), { status: 412 });
  assert.equal(await memory.forget(user, first.memory_id), undefined);
  await assert.rejects(memory.get(user, first.memory_id), { status: 404 });
});

test("what a user says at length is a question as any other", async () => {
  const user = somebody();
  await memory.remember(user, "Maya is vegan.");
  const typed = "Is Maya vegan? 🌱 ".repeat(2_000);
  assert.match((await memory.context(user, typed)).text, /Maya is vegan/);
  assert.deepEqual((await memory.search(user, typed)).map((hit) => hit.content), ["Maya is vegan."]);
});

test("all that is known comes once over pages", async () => {
  const user = somebody();
  const said = ["Anna plays the violin.", "Anna is vegan.", "Anna lives in Porto."];
  for (const statement of said) await memory.remember(user, statement);
  const found = await all(memory.memories(user, { limit: 2 }));
  assert.deepEqual(found.map((one) => one.content).sort(), [...said].sort());
  assert.equal((await memory.forgetUser(user)).clean, true);
});

test("turns are handed over in order, and again without harm", async () => {
  const user = somebody();
  const say = (number) =>
    memory.enqueue(user, [{ role: "user", content: `I have ${number} cats.` }], {
      turn_id: `${user}-${number}`,
    });
  const accepted = await Promise.all([say(1), say(2), say(3), say(1)]);
  assert.deepEqual(accepted.map((one) => one.turn_id), [`${user}-1`, `${user}-2`, `${user}-3`, `${user}-1`]);
});

test("a turn whose answer is lost goes again as the same turn, also where its id is given as undefined", async (context) => {
  const sent = [];
  const answers = globalThis.fetch;
  context.mock.method(globalThis, "fetch", async (address, options) => {
    sent.push(JSON.parse(options.body));
    const answer = await answers(address, options);
    if (sent.length === 1) throw new TypeError("terminated");
    return answer;
  });
  const said = [{ role: "user", content: "I have a parrot." }];
  const { turn_id } = await memory.enqueue(somebody(), said, { turn_id: undefined, occurred_at: undefined });
  assert.deepEqual(sent[0], sent[1]);
  assert.equal(sent[0].turn_id, turn_id);
  assert.ok(sent[0].occurred_at);
});

test("a turn says how long it waited, also before it was given and while it is sent again", async (context) => {
  const waits = [];
  context.mock.method(globalThis, "fetch", async (_, options) => {
    waits.push(Number(options.headers["Afterturn-Waited-Seconds"]));
    assert.equal(JSON.parse(options.body).waited_seconds, undefined);
    if (waits.length === 1) throw new TypeError("terminated");
    return Response.json({ turn_id: "kept", accepted: "added" }, { status: 202 });
  });
  const said = [{ role: "user", content: "I have a parrot." }];
  await memory.enqueue(somebody(), said, { turn_id: "kept", waited_seconds: 3_600 });
  assert.ok(waits[0] >= 3_600);
  assert.ok(waits[1] > waits[0]);
});

test("a field that is wrong is named, and nothing is tried again", async () => {
  await assert.rejects(memory.enqueue(somebody(), []), (error) => {
    assert.ok(error instanceof RequestFailed);
    assert.equal(error.status, 422);
    assert.equal(error.isAway, false);
    assert.match(error.message, /messages/);
    assert.ok(error.requestId);
    return true;
  });
});

test("no user's name leads to another path", async () => {
  assert.equal((await memory.context("anna?x#y", "")).text, "");
  assert.throws(() => memory.context("..", ""), TypeError);
  assert.throws(() => memory.get("anna", "../subjects/anna"), TypeError);
});

test("a service that is away is named as such", async () => {
  const away = new Client("http://127.0.0.1:1", undefined, { attempts: 2 });
  await assert.rejects(away.search("anna", "vegan"), (error) => error.isAway && error.status === 0);
});

test("a listener goes on behind an event", async () => {
  // The service that runs this has three events of this user.
  const heard = [];
  for await (const event of memory.events("listener", { after: "0" })) {
    heard.push(event);
    if (heard.length === 2) break;
  }
  for await (const event of memory.events("listener", { after: heard[1].id })) {
    heard.push(event);
    break;
  }
  assert.deepEqual(heard.map((event) => event.data.turn_id), ["t1", "t2", "t3"]);
  assert.equal(heard[0].name, "memory.error");
});
