import type { z } from 'zod';

export type Json = Record<string, unknown>;

/** One operation of the OpenAPI document. */
export type Operation = {
  id: string;
  method: 'get' | 'post' | 'delete';
  path: string;
  tag: string;
  summary: string;
  body?: z.ZodType;
  /** the body is a form instead of JSON */
  form?: true;
  answer: z.ZodType;
  /** media type of an answer that is no JSON */
  binary?: string;
  streams?: true;
  error?: z.ZodType;
  open?: true;
  parameters?: Json[];
};
