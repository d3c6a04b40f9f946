/**
 * Every shape that crosses a process. Glossary, from the outside in:
 *
 * - organization: the tenant; owns keys and everything below. A key of one never sees another.
 * - agent: a name with a status, rate limits and numbered versions.
 * - version: immutable definition (model, prompt, skills, tools, roles, MCP servers), from 0.
 * - production pointer, tag: names that select a version for new sessions.
 * - subject: whom the agent serves, named by the caller; owns one volume per agent.
 * - session: one conversation of one subject with one recorded version.
 * - event: one entry of a session's log, numbered by `sequence`; the log is the truth.
 * - turn: what one prompt sets off, from `session.status_running` to the `session.status_idle` that ends it.
 * - step: one model call of a turn together with the tool calls it asked for.
 * - ask: an approval, custom tool call or clarification that waits for the caller.
 * - lease: a worker's right to write a session, with an epoch that fences late writers.
 * - volume: the files of an agent and subject. sandbox: what runs tools on a volume. executor: the server inside it.
 * - toolset: a named group of built-in tools, switched and permitted together.
 */
export * from './agents.ts';
export * from './attachments.ts';
export * from './automations.ts';
export * from './common.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './files.ts';
export * from './installations.ts';
export * from './keys.ts';
export * from './memory.ts';
export * from './route.ts';
export * from './sessions.ts';
export * from './tools.ts';
export * from './toolsets.ts';
export * from './usage.ts';
export * from './validation.ts';
export * from './vaults.ts';
export { agentRoutes } from './routes/agents.ts';
export { fileRoutes } from './routes/files.ts';
export { automationRoutes } from './routes/automations.ts';
export { keyRoutes } from './routes/keys.ts';
export { memoryRoutes } from './routes/memory.ts';
export { eventRoutes, sessionRoutes } from './routes/sessions.ts';
export { mcpRoutes } from './routes/mcp.ts';
export { vaultRoutes } from './routes/vaults.ts';
