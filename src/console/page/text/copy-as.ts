export type SnippetKind = 'curl' | 'typescript' | 'python';

type Call = { base: string; agentId: string; subjectId: string };

/** Opens a session and sends a prompt. The key is always `$CAPSTAN_API_KEY`, never the caller's own. */
export function writeSnippet(kind: SnippetKind, { base, agentId, subjectId }: Call): string {
  const url = base.replace(/(?<!\/)\/+$/, '');
  const session = JSON.stringify({ agentId, subjectId });
  const message = JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text: 'Hello' }] }] });
  switch (kind) {
    case 'curl':
      return [
        `SESSION=$(curl -sS ${url}/v1/sessions -H "x-api-key: $CAPSTAN_API_KEY" \\`,
        `  -H 'content-type: application/json' -d '${session.replaceAll("'", String.raw`'\''`)}' | jq -r .id)`,
        `curl -sS ${url}/v1/sessions/$SESSION/events -H "x-api-key: $CAPSTAN_API_KEY" \\`,
        `  -H 'content-type: application/json' -d '${message}'`,
      ].join('\n');
    case 'typescript':
      return [
        "import { env, stdout } from 'node:process';",
        '',
        `const client = buildClient({ baseUrl: '${url}', apiKey: env.CAPSTAN_API_KEY });`,
        `const session = await client.createSession(${session});`,
        `await client.sendEvents(session.id, ${message});`,
        'for await (const event of client.followEvents(session.id, { after: 0 })) stdout.write(`${event.type}\\n`);',
      ].join('\n');
    case 'python':
      return [
        'import os, requests',
        '',
        'headers = {"x-api-key": os.environ["CAPSTAN_API_KEY"]}',
        `session = requests.post("${url}/v1/sessions", headers=headers, json=${session}).json()`,
        `requests.post(f"${url}/v1/sessions/{session['id']}/events", headers=headers, json=${message})`,
      ].join('\n');
  }
}
