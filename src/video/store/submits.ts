import type { Queryable } from '../../platform/db/db.ts';
import type { RenderPlan } from '../contract/generations.ts';
import { encodeJson } from '../../platform/store/json.ts';

export type NewGeneration = {
  id: string;
  jobId: string;
  modelName: string;
  variant: string;
  prompt: string;
  templateId: string | null;
  plan: RenderPlan;
  credits: number;
  deadlineSeconds: number;
  webhookUrl: string | null;
};

/** A generation that its organization can pay for, with its queue position. */
export type PaidGeneration = NewGeneration & { organizationId: string; queueTag: number };

/** An organization's balance, and the queue position after which its next generation is placed. */
export type OpenAccount = { organizationId: string; balance: number; queueTag: number };

/**
 * Locks accounts until the end of the transaction, always in the same order. `free` skips accounts that are already
 * locked; otherwise it waits for them. Organizations without an account are missing in the result.
 */
export async function lockAccounts(
  tx: Queryable,
  organizationIds: readonly string[],
  which: 'free' | 'all',
): Promise<OpenAccount[]> {
  // An organization's next generations come after its last one, and never before the renders in progress.
  const { rows } = await tx.query<OpenAccount>(
    `SELECT organization_id AS "organizationId", balance,
       greatest(queue_tag, (SELECT tag FROM video_clock)) AS "queueTag"
     FROM credit_accounts WHERE organization_id = ANY($1::text[])
     ORDER BY organization_id FOR UPDATE ${which === 'free' ? 'SKIP LOCKED' : ''}`,
    [organizationIds],
  );
  return rows;
}

/** Reserves credits and stores the generations. Requires locked accounts. */
export async function insertGenerations(tx: Queryable, generations: readonly PaidGeneration[]): Promise<void> {
  await tx.query(
    `WITH wanted AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS w (id text, "organizationId" text, "jobId" uuid, "modelName" text,
         variant text, prompt text, "templateId" text, plan jsonb, credits bigint, "deadlineSeconds" integer,
         "webhookUrl" text, "queueTag" bigint)),
     charged AS (
       UPDATE credit_accounts a SET balance = a.balance - s.credits, reserved = a.reserved + s.credits, queue_tag = s.tag
       FROM (SELECT "organizationId", sum(credits) AS credits, max("queueTag") AS tag FROM wanted GROUP BY 1) AS s
       WHERE a.organization_id = s."organizationId"),
     stored AS (
       INSERT INTO generations (id, organization_id, job_id, model_name, variant, prompt, template_id, request, credits,
         deadline_seconds, webhook_url, queue_tag)
       SELECT id, "organizationId", "jobId", "modelName", variant, prompt, "templateId", plan, credits,
         "deadlineSeconds", "webhookUrl", "queueTag" FROM wanted)
     INSERT INTO credit_entries (organization_id, kind, generation_id, balance_change, reserved_change)
     SELECT "organizationId", 'reserve', id, -credits, credits FROM wanted`,
    [encodeJson(generations)],
  );
}
