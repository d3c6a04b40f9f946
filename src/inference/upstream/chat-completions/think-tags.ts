const OPEN = '<think>';
const CLOSE = '</think>';

export type TaggedText = { kind: 'text' | 'reasoning'; text: string };

/**
 * Splits `<think>…</think>` off the start of a streamed text. Holds back only text that may be part of a tag; `flush`
 * returns it, before something else follows the text; a tag that is open stays open.
 */
export type ThinkTags = { push(text: string): TaggedText[]; flush(): TaggedText[] };

/** The length of the longest suffix of `text` that is a prefix of `tag`. */
function partialTag(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

export function buildThinkTags(): ThinkTags {
  let state: 'start' | 'inside' | 'behind' | 'text' = 'start';
  let held = '';

  function push(text: string): TaggedText[] {
    if (state === 'text') return text === '' ? [] : [{ kind: 'text', text }];
    held += text;
    if (state === 'start') {
      const begun = held.trimStart();
      if (OPEN.startsWith(begun) && begun.length < OPEN.length) return [];
      if (!begun.startsWith(OPEN)) return release();
      state = 'inside';
      held = begun.slice(OPEN.length).replace(/^\n/, '');
    }
    if (state === 'inside') return pushInside();
    // Drops the blank lines between the reasoning and the answer.
    held = held.trimStart();
    return held === '' ? [] : release();
  }

  function pushInside(): TaggedText[] {
    const end = held.indexOf(CLOSE);
    if (end !== -1) {
      const reasoning = held.slice(0, end);
      held = held.slice(end + CLOSE.length);
      state = 'behind';
      return [...(reasoning === '' ? [] : [{ kind: 'reasoning' as const, text: reasoning }]), ...push('')];
    }
    const keep = partialTag(held, CLOSE);
    const reasoning = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    return reasoning === '' ? [] : [{ kind: 'reasoning', text: reasoning }];
  }

  function release(): TaggedText[] {
    const text = held;
    held = '';
    state = 'text';
    return text === '' ? [] : [{ kind: 'text', text }];
  }

  return {
    push,
    flush() {
      if (held === '') return [];
      const piece: TaggedText = { kind: state === 'inside' ? 'reasoning' : 'text', text: held };
      held = '';
      if (state !== 'inside') state = 'text';
      return [piece];
    },
  };
}
