import type { Skill } from '../contract/agents.ts';
import type { MemoryTarget } from '../contract/memory.ts';
import type { ImagePart } from '../../inference/model.ts';
import type { WebPort } from './web/port.ts';

/** What tools reach beyond the sandbox, always within the session's organization, agent and subject. */
export type ToolPorts = {
  memory: MemoryPort;
  search: SearchPort;
  skills: SkillsPort;
  conversion: ConversionPort;
  web: WebPort;
};

/** Readers of untrusted documents. Errors are sentences for the model; only the signal's reason is thrown. */
export type ConversionPort = {
  /** The MIME type of documents whose names end so, if they can be read. */
  findType(path: string): string | undefined;
  readDocument(bytes: Uint8Array, mimeType: string, signal: AbortSignal): Promise<{ text: string } | { fault: string }>;
  /** An image as models take it. */
  readImage(bytes: Uint8Array, signal: AbortSignal): Promise<{ image: ImagePart } | { fault: string }>;
  /** An image on the network, to which the guard of what leaves the system lets it. */
  fetchImage(url: string, signal: AbortSignal): Promise<{ bytes: Uint8Array } | { fault: string }>;
};

export type MemoryPort = {
  /**
   * Replaces one of the subject's documents by what `change` makes of it, one writer at a time; a null `content` leaves
   * it as it is. Returns the answer of `change`.
   */
  change<T>(
    target: Exclude<MemoryTarget, 'agent'>,
    change: (content: string) => { content: string | null; answer: T },
  ): Promise<T>;
};

export type MessageRole = 'user' | 'assistant';

/** `id` is the sequence of the message in its session. */
export type FoundMessage = { id: number; role: MessageRole; text: string; when: string };

export type FoundSession = {
  sessionId: string;
  title: string | null;
  model: string;
  source: 'conversation' | 'automation';
  startedAt: string;
  lastActive: string;
  messageCount: number;
};

export type SearchHit = {
  session: FoundSession;
  messageId: number;
  role: MessageRole;
  snippet: string;
  /** in order: the beginning of the session, what stands around the hit, the end */
  messages: FoundMessage[];
  messagesBefore: number;
  messagesAfter: number;
};

export type SearchPort = {
  /** The best message of each session, other than `exclude`, that matches. */
  find(query: {
    text: string;
    limit: number;
    sort: 'relevance' | 'newest' | 'oldest';
    roles: readonly MessageRole[];
    /** messages each side of a hit, and at both ends of its session */
    window: number;
    ends: number;
    exclude: string;
  }): Promise<{ hits: SearchHit[]; sessionsSearched: number }>;
  findSession(sessionId: string): Promise<FoundSession | undefined>;
  /** Messages at and around one, at most `window` each side. */
  readAround(sessionId: string, messageId: number, window: number): Promise<FoundMessage[]>;
  /** The first and the last messages, none of them twice. */
  readEnds(sessionId: string, first: number, last: number): Promise<FoundMessage[]>;
  listRecent(limit: number, exclude: string): Promise<(FoundSession & { preview: string })[]>;
};

export type LearnedSkill = { name: string; description: string; category: string | null };

export type SkillsPort = {
  /** of the agent version; read-only */
  configured: readonly Skill[];
  /** Keeps the list of what is on the volume, for the prompts of later sessions. */
  keepIndex(learned: readonly LearnedSkill[]): Promise<void>;
};
