import { newId } from '../../../platform/ids.ts';
import { ModelError } from '../../model.ts';
import type { ModelDelta } from '../../model.ts';
import { asArguments, asText, asObject, isJson } from '../wire.ts';

type Call = {
  /** number of the part; -1 until its name is known */
  part: number;
  index: number | undefined;
  upstreamId: string;
  name: string;
  arguments: string;
};

/**
 * Assembles tool calls from deltas. By the specification `index` says which call a delta belongs to. In practice the index
 * may be missing, always 0 or used twice; ids may be blank, repeated or new in every chunk; names may be repeated.
 */
export type CallAssembler = {
  push(delta: unknown, out: ModelDelta[]): void;
  /** Throws when a call never got a name. */
  end(): void;
  count(): number;
};

export function buildCallAssembler(nextPart: () => number): CallAssembler {
  const calls: Call[] = [];
  const usedIds = new Set<string>();

  function startsNewCall(call: Call, id: string, name: string): boolean {
    // A delta without a name continues a call, even if its id is new.
    if (name === '' || call.name === '') return false;
    if (call.name !== name) return true;
    if (id !== '' && call.upstreamId !== '' && id !== call.upstreamId) return true;
    // The same name again without an id starts a new call if the current one is complete.
    return id === '' && call.arguments !== '' && isJson(call.arguments);
  }

  function find(id: string, name: string, index: number | undefined): Call | undefined {
    if (id !== '') {
      const same = calls.findLast((call) => call.upstreamId === id);
      if (same !== undefined && (index === undefined || same.index === undefined || same.index === index)) return same;
    }
    const call = index === undefined ? calls.at(-1) : calls.findLast((each) => each.index === index);
    if (call === undefined || startsNewCall(call, id, name)) return undefined;
    return call;
  }

  function begin(call: Call, out: ModelDelta[]): void {
    const id = call.upstreamId === '' || usedIds.has(call.upstreamId) ? newId('cal') : call.upstreamId;
    usedIds.add(id);
    call.part = nextPart();
    out.push({ type: 'tool_call', index: call.part, id, name: call.name });
  }

  return {
    count: () => calls.length,
    push(delta, out) {
      const wire = asObject(delta);
      if (wire === undefined) return;
      const body = asObject(wire.function) ?? {};
      const id = asText(wire.id).trim();
      const name = asText(body.name).trim();
      const text = asArguments(body.arguments);
      const index = typeof wire.index === 'number' ? wire.index : undefined;
      let call = find(id, name, index);
      if (call === undefined) {
        // Ignores an empty trailing delta.
        if (id === '' && name === '' && text === '') return;
        call = { part: -1, index, upstreamId: id, name: '', arguments: '' };
        calls.push(call);
      }
      if (call.upstreamId === '') call.upstreamId = id;
      if (call.name === '') call.name = name;
      const begun = call.part !== -1;
      if (!begun && call.name !== '') begin(call, out);
      call.arguments += text;
      if (call.part === -1) return;
      const fresh = begun ? text : call.arguments;
      if (fresh !== '') out.push({ type: 'tool_arguments', index: call.part, text: fresh });
    },
    end() {
      if (calls.some((call) => call.part === -1)) {
        throw new ModelError('upstream', 'The provider sent a tool call without a name.');
      }
    },
  };
}
