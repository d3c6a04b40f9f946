import type { Page } from 'playwright-core';
import { z } from 'zod';
import { withTimeout } from '../../platform/abort.ts';
import { NAMED_KEYS } from './named-keys.ts';

const CHARACTER = /^.$/su;
const Key = z.union([z.enum(NAMED_KEYS), z.string().regex(CHARACTER)]);
const part = z.number().min(0).max(1);
/** A position as fractions of the picture's width and height. */
const at = { x: part, y: part };
const pressed = { ...at, button: z.enum(['left', 'middle', 'right']).default('left'), clicks: z.int().min(1).max(3) };
const delta = z.number().min(-5000).max(5000);

/** A person's input on the picture of a page. Texts have at most 4,096 characters, and requests 64 events. */
export const HelpInput = z.object({
  events: z
    .array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('move'), ...at }),
        z.object({ type: z.literal('down'), ...pressed }),
        z.object({ type: z.literal('up'), ...pressed }),
        z.object({ type: z.literal('wheel'), ...at, dx: delta, dy: delta }),
        z.object({
          type: z.literal('key'),
          key: Key,
          modifiers: z.array(z.enum(['Alt', 'Control', 'Meta', 'Shift'])).max(4),
        }),
        z.object({ type: z.literal('text'), text: z.string().min(1).max(4096) }),
      ]),
    )
    .min(1)
    .max(64),
});
export type HelpEvent = z.infer<typeof HelpInput>['events'][number];

export type ScreenSize = { width: number; height: number };

/** A hanging page accepts no input. */
const TIMEOUT_MS = 5000;

async function press({ keyboard }: Page, key: string, modifiers: readonly string[]): Promise<void> {
  const isCharacter = CHARACTER.test(key);
  const isPlain = modifiers.every((name) => name === 'Shift');
  // Keys that no keyboard layout of the SDK knows.
  if (isCharacter && isPlain && !/^[\x20-\x7e]$/.test(key)) return keyboard.insertText(key);
  await keyboard.press([...(isCharacter && isPlain ? [] : modifiers), key].join('+'));
}

async function apply(page: Page, { width, height }: ScreenSize, event: HelpEvent): Promise<void> {
  const { mouse, keyboard } = page;
  switch (event.type) {
    case 'key':
      return press(page, event.key, event.modifiers);
    case 'text':
      return keyboard.insertText(event.text);
    default:
      await mouse.move(event.x * width, event.y * height);
  }
  if (event.type === 'wheel') return mouse.wheel(event.dx, event.dy);
  if (event.type === 'move') return;
  const { button, clicks: clickCount } = event;
  return event.type === 'down' ? mouse.down({ button, clickCount }) : mouse.up({ button, clickCount });
}

/** Sends a person's input to the page, in order. Drops input that the page does not accept within 5 s. Never throws. */
export async function applyInput(page: Page, size: ScreenSize, events: readonly HelpEvent[]): Promise<void> {
  for (const event of events) {
    const done = await withTimeout(TIMEOUT_MS, apply(page, size, event), 'input').then(
      () => true,
      () => false,
    );
    if (!done && page.isClosed()) return;
  }
}
