// Made of the service's OpenAPI document: python -m tests.typescript_types

/** Outcome of `enqueue`. Whichever it is, the turn will be processed. */
export type Accepted = "added" | "pending" | "done" | "spooled";

/** A pointer to something that came with a turn; its content is never fetched. */
export interface Attachment {
  uri: string;
  media_type: string;
  title?: string | null;
}

/** Text for a prompt, the memories that stand in it, and the ids of the documents of which excerpts do. */
export interface ContextOut {
  text: string;
  used: string[];
  documents: string[];
  etag: string;
  tokens: number;
}

/** Calls of models of one group: of it is set what they were added up by. A call about several conversations is a part of a call of each; `conversation_id` is empty for what was of none. `cost` is null where no price is set. */
export interface CostOut {
  day?: string | null;
  tenant_id?: string | null;
  user_id?: string | null;
  conversation_id?: string | null;
  purpose?: string | null;
  llm_calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  embedding_calls: number;
  embedding_texts: number;
  embedding_tokens: number;
  cost: number | null;
}

/** A page of costs from the day `since` on; `cursor` asks for the next one, and is null on the last. */
export interface CostsOut {
  since: string;
  items: CostOut[];
  cursor: string | null;
}

/** A memory that answers a search; `distance` is 1 - similarity, `score` what it is ranked by. */
export interface HitOut {
  memory_id: string;
  content: string;
  memory_type: Kind;
  type: MemoryType;
  category: string;
  scope: "shared" | "individual";
  visibility: Visibility;
  source: "chat" | "external" | "instagram" | "bank_api" | "system" | "agent";
  tags: string[];
  attachments: Attachment[];
  status: Status;
  importance: number;
  confidence: number;
  pinned: boolean;
  suppressed: boolean;
  occurred_at: string;
  created_at: string;
  updated_at: string;
  last_accessed: string;
  access_count: number;
  agent_id: string | null;
  supersedes: string[];
  superseded_by: string | null;
  version: number;
  similarity: number;
  distance: number;
  score: number;
  why?: Record<string, unknown> | null;
}

/** Candidate that the hot path already announced, so that the worker can settle it. */
export interface HotPathCandidate {
  id: string;
  summary: string;
  type?: "semantic" | "episodic" | "procedural";
  category?: string;
}

/** Finer than the type. */
export type Kind = "user_preference" | "user_fact" | "conversation_context" | "agent_procedure" | "knowledge" | "event_pattern" | "error_handling" | "proactive_action";

/** A statement to remember: one or two sentences. */
export interface MemoryIn {
  content: string;
  memory_type?: Kind;
  category?: string | null;
  scope?: "shared" | "individual" | null;
  tags?: string[];
  importance?: number | null;
  confidence?: number;
  pinned?: boolean;
  occurred_at?: string | null;
  user_id?: string | null;
  agent_id?: string | null;
}

/** A memory as it is told. */
export interface MemoryOut {
  memory_id: string;
  content: string;
  memory_type: Kind;
  type: MemoryType;
  category: string;
  scope: "shared" | "individual";
  visibility: Visibility;
  source: "chat" | "external" | "instagram" | "bank_api" | "system" | "agent";
  tags: string[];
  attachments: Attachment[];
  status: Status;
  importance: number;
  confidence: number;
  pinned: boolean;
  suppressed: boolean;
  occurred_at: string;
  created_at: string;
  updated_at: string;
  last_accessed: string;
  access_count: number;
  agent_id: string | null;
  supersedes: string[];
  superseded_by: string | null;
  version: number;
}

/** New values of a memory's fields; what is left out stays. */
export interface MemoryPatch {
  content?: string | null;
  category?: string | null;
  tags?: string[] | null;
  importance?: number | null;
  confidence?: number | null;
  scope?: "shared" | "individual" | null;
}

export type MemoryType = "semantic" | "episodic" | "procedural";

/** Message of one side of a conversation. */
export interface Message {
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  name?: string | null;
}

/** A page of memories, latest created first; `cursor` asks for the next one, and is null on the last. */
export interface PageOut {
  items: MemoryOut[];
  cursor: string | null;
  total: number | null;
  limit: number;
  offset: number;
}

/** Outcome of a statement, and the memory that says it now; null where none does. */
export interface RememberedOut {
  outcome: "created" | "updated" | "known" | "held";
  memory_id: string | null;
  memory: MemoryOut | null;
}

export type Status = "provisional" | "active" | "superseded" | "archived" | "deleted";

/** A turn as a backend sends it: who and what was said is enough, the rest has defaults. */
export interface TurnIn {
  user_id?: string | null;
  messages: Message[];
  turn_id?: string | null;
  conversation_id?: string;
  agent_id?: string | null;
  sequence?: number | null;
  occurred_at?: string | null;
  source?: "chat" | "external" | "instagram" | "bank_api" | "system" | "agent";
  attachments?: Attachment[];
  candidate?: HotPathCandidate | null;
  consent?: "granted" | "withdrawn" | null;
  history?: Message[];
  metadata?: Record<string, unknown>;
}

/** Outcome of enqueueing a turn: whatever `accepted` says, it will be processed, once. */
export interface TurnOut {
  turn_id: string;
  accepted: Accepted;
}

export type Visibility = "public" | "private" | "personal" | "individual";

/** A memory whole; its ETag is what an edit is to name in If-Match. */
export interface WholeMemoryOut {
  memory_id: string;
  content: string;
  memory_type: Kind;
  type: MemoryType;
  category: string;
  scope: "shared" | "individual";
  visibility: Visibility;
  source: "chat" | "external" | "instagram" | "bank_api" | "system" | "agent";
  tags: string[];
  attachments: Attachment[];
  status: Status;
  importance: number;
  confidence: number;
  pinned: boolean;
  suppressed: boolean;
  occurred_at: string;
  created_at: string;
  updated_at: string;
  last_accessed: string;
  access_count: number;
  agent_id: string | null;
  supersedes: string[];
  superseded_by: string | null;
  version: number;
  related_memories: string[];
  embedding?: number[] | null;
}
