import { Writable } from 'node:stream';
import { pino } from 'pino';
import { startGateway } from '../gateway/harness.ts';
import type { TestGateway, TestGatewayOptions } from '../gateway/harness.ts';

export type WatchedGateway = TestGateway & {
  /** `POST /v1/responses 200` for every answered request */
  answered: string[];
  /** log lines with the level warn or above */
  complaints: string[];
};

type Line = { level: number; msg: string; method?: string; route?: string; status?: string };

/** A gateway that records the log of its requests. */
export async function startWatchedGateway(options: TestGatewayOptions): Promise<WatchedGateway> {
  const answered: string[] = [];
  const complaints: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const line = JSON.parse(chunk.toString('utf8')) as Line;
      if (line.msg === 'request') answered.push(`${line.method} ${line.route} ${line.status}`);
      if (line.level >= 40) complaints.push(chunk.toString('utf8'));
      done();
    },
  });
  const gateway = await startGateway({ ...options, log: pino({ level: 'debug' }, sink) });
  return { ...gateway, answered, complaints };
}
