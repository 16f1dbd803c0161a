import type { ContextOut, HitOut, MemoryIn, MemoryOut, MemoryPatch, Message, RememberedOut, TurnIn, TurnOut, WholeMemoryOut } from "./types.d.ts";

export type * from "./types.d.ts";

/** What a search or a listing may be narrowed by. Several tags: all of them; several of the others: any. */
export interface Filters {
  memory_type?: string[];
  type?: string[];
  category?: string[];
  scope?: "shared" | "individual";
  tags?: string[];
  min_importance?: number;
  min_confidence?: number;
  since?: Date;
  until?: Date;
  subject_id?: string;
  /** What this agent wrote. */
  agent_id?: string;
  /** The agent that asks. */
  as_agent?: string;
}

/** What was removed of a user and what is left, by place; `clean`: nothing is, and that is shown of every place. */
export interface Proof {
  removed: Record<string, unknown>;
  left: Record<string, unknown>;
  notes: string[];
  clean: boolean;
}

/** Something that happened to a user's memory. One named `gap` says that some were missed: list the memories anew. */
export interface Event {
  id: string;
  name: string;
  /** Of all but a gap: `event_id` is its own however often it is told, and `at` is when it happened (ISO 8601). */
  data: Record<string, unknown> & { event_id?: number; at?: string };
}

/** A request that the service did not do. `status` is 0 where no answer came. */
export class RequestFailed extends Error {
  readonly status: number;
  readonly errors: { field: string; message: string }[];
  readonly requestId: string | null;
  readonly retryAfter: number | null;
  /** Whether the service, or a part of it, is away: the same request may work later. */
  get isAway(): boolean;
}

/** An Afterturn service. Make one per process, and share it. `userId` is null for the user that the key is bound to. */
export class Client {
  /** `timeout` is in milliseconds, for each answer; what may be sent again is sent `attempts` times. */
  constructor(url: string, key?: string, options?: { timeout?: number; attempts?: number });

  /**
   * Hand a turn over, after the response has gone out; a user's turns go in the order of the calls. It is safe when the
   * promise is fulfilled: there is no spool, so a turn that fails while the service is away is to be given again, with the
   * same `turn_id`, and with how long it waited in `waited_seconds`: what was erased meanwhile does not come back with it.
   */
  enqueue(
    userId: string | null,
    messages: Message[],
    options?: Omit<TurnIn, "user_id" | "messages"> & { waited_seconds?: number },
  ): Promise<TurnOut>;

  /** Find the memories that answer a question best, by its first 2,000 characters; a question about nothing that is known gets none. */
  search(
    userId: string | null,
    query: string,
    filters?: Filters & { limit?: number; offset?: number; explain?: boolean },
  ): Promise<HitOut[]>;

  /** Return what a prompt is given of what is known: cited, dated, within a budget of tokens; of a question the first 4,000 characters count. */
  context(
    userId: string,
    question?: string,
    options?: { subjectId?: string; agent_id?: string; tokens?: number; bullets?: number },
  ): Promise<ContextOut>;

  /** Remember a statement of one or two sentences outright, by the same decision as what comes of a turn. */
  remember(userId: string | null, content: string, options?: Omit<MemoryIn, "user_id" | "content">): Promise<RememberedOut>;

  /** Iterate over all that is known, latest created first. */
  memories(
    userId: string | null,
    filters?: Filters & { words?: string; status?: string[]; limit?: number },
  ): AsyncGenerator<MemoryOut>;

  get(userId: string | null, memoryId: string): Promise<WholeMemoryOut>;

  /** Change a memory if it still is at `version`; null changes it whatever its version. */
  edit(userId: string | null, memoryId: string, version: number | null, changes: MemoryPatch): Promise<MemoryOut>;

  /** Erase a memory for good. */
  forget(userId: string | null, memoryId: string): Promise<void>;

  /** Erase all that the service knows of a user; the answer is the proof. */
  forgetUser(userId: string): Promise<Proof>;

  /** Iterate over what happens to a user's memory until `signal` aborts: from now on, or from behind the event `after`. */
  events(userId: string | null, options?: { after?: string; signal?: AbortSignal }): AsyncGenerator<Event>;
}
