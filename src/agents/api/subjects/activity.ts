// Tests: test/agents/api/subjects/retention.test.ts
import type { Db } from '../../../platform/db/db.ts';
import { errorText } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Subject } from '../../store/approvals.ts';
import { touchSubject } from '../../store/removals.ts';

/** A subject is noted at most this often. */
const PERIOD_MS = 3_600_000;
const MAX_KNOWN = 10_000;

/** Notes the use of subjects' files, which no session shows. */
export class SubjectActivity {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #notedMs = new Map<string, number>();

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  async note(subject: Subject): Promise<void> {
    const key = JSON.stringify([subject.organizationId, subject.agentId, subject.subjectId]);
    const nowMs = Date.now();
    if (nowMs - (this.#notedMs.get(key) ?? -Infinity) < PERIOD_MS) return;
    if (this.#notedMs.size >= MAX_KNOWN) this.#notedMs.clear();
    this.#notedMs.set(key, nowMs);
    await touchSubject(this.#db, subject).catch((error: unknown) => {
      this.#notedMs.delete(key);
      this.#log.warn({ agentId: subject.agentId, error: errorText(error) }, 'the use of files was not noted');
    });
  }

  forget(): void {
    this.#notedMs.clear();
  }
}
