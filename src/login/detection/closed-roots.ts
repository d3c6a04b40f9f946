import type { Page } from 'playwright-core';
import { openPageSession } from '../browser/devtools-session.ts';

/** The part of a DevTools protocol node that is used here. */
type ProtocolNode = {
  backendNodeId: number;
  shadowRootType?: string;
  shadowRoots?: ProtocolNode[];
  children?: ProtocolNode[];
  contentDocument?: ProtocolNode;
};

function* listClosed(node: ProtocolNode): Generator<number> {
  if (node.shadowRootType === 'closed') yield node.backendNodeId;
  for (const inner of [...(node.shadowRoots ?? []), ...(node.children ?? [])]) yield* listClosed(inner);
  if (node.contentDocument !== undefined) yield* listClosed(node.contentDocument);
}

const ADD = `function () { return globalThis[Symbol.for('capstan.detection')]?.addRoot(this) === true; }`;

/**
 * Passes closed shadow roots that were declared in HTML to the page code, which cannot see them because no script
 * attached them. Returns how many were new. It walks the whole document, so it is only for pages on which no form was
 * found.
 */
export async function openClosedRoots(page: Page): Promise<number> {
  const session = await openPageSession(page);
  const { root } = await session.send('DOM.getDocument', { depth: -1, pierce: true });
  let added = 0;
  for (const backendNodeId of listClosed(root)) {
    const { object } = await session.send('DOM.resolveNode', { backendNodeId });
    if (object.objectId === undefined) continue;
    const called = { objectId: object.objectId, functionDeclaration: ADD, returnByValue: true };
    const { result } = await session.send('Runtime.callFunctionOn', called);
    if (result.value === true) added += 1;
    await session.send('Runtime.releaseObject', { objectId: object.objectId });
  }
  return added;
}
