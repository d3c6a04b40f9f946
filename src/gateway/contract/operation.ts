import type { z } from 'zod';
import type { Scope } from '../../platform/contract/keys.ts';

export type Json = Record<string, unknown>;

/** One operation of the OpenAPI document. */
export type Operation = {
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  tag: string;
  summary: string;
  body?: z.ZodType;
  /** the body is a form instead of JSON */
  form?: true;
  answer: z.ZodType;
  /** status of the response; default 200 */
  status?: number;
  /** scopes, one of which a caller needs; default: those of model calls or of lists */
  scopes?: readonly Scope[];
  /** media types of a response that is not JSON */
  binary?: readonly string[];
  /** what each event of the stream holds, of an operation that can stream */
  event?: z.ZodType;
  error?: z.ZodType;
  open?: true;
  parameters?: Json[];
};
