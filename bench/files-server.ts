// The floor of bench/files.ts: files over bare node:http, put in place by a rename. Prints its port.
import { createReadStream, createWriteStream, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

const folder = process.argv[2] ?? '';
let writes = 0;
const server = createServer((request, response) => {
  const file = `${folder}/${request.url?.split('/').at(-1) ?? ''}`;
  const act = async (): Promise<void> => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-length': statSync(file).size });
      await pipeline(createReadStream(file, { highWaterMark: 512 * 1024 }), response);
      return;
    }
    const temporary = `${folder}/.${(writes += 1)}`;
    await pipeline(request, createWriteStream(temporary));
    renameSync(temporary, file);
    response.writeHead(204).end();
  };
  act().catch(() => response.destroy());
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
