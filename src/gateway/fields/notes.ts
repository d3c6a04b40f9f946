/** Notes of fields that several clients have. */
export const EFFORT_NOTE = 'models that reason alone; Converse: Claude, Nova 2 and gpt-oss';
export const CACHE_NOTE = 'cache breakpoints in messages and Converse, there for Claude from 3.7 on';
