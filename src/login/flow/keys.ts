import type { ElementHandle, Frame, Page } from 'playwright-core';
import { openPageSession } from '../browser/devtools-session.ts';

const LETTER_OR_DIGIT = /^[a-z0-9]$/i;

/** What a keyboard says of a character. Scripts of pages look at the old numbers still. */
function describeKey(character: string) {
  if (!LETTER_OR_DIGIT.test(character)) return { key: character };
  const code = /\d/.test(character) ? `Digit${character}` : `Key${character.toUpperCase()}`;
  return { key: character, code, windowsVirtualKeyCode: character.toUpperCase().charCodeAt(0) };
}

/**
 * Types into the element that has just been given the focus, with the events of real keys. All of them are on their way
 * before the page can go elsewhere: what is sent one by one could end up in another document.
 */
export async function typeKeys(
  { page, frame }: { page: Page; frame: Frame },
  element: ElementHandle,
  text: string,
): Promise<void> {
  if (frame !== page.mainFrame()) {
    // A frame may live in a process of its own; there each key makes sure of its element.
    for (const character of text) await element.type(character, { timeout: 4000 });
    return;
  }
  const session = await openPageSession(page);
  const sent = Array.from(text).flatMap((character) => {
    const described = describeKey(character);
    return [
      session.send('Input.dispatchKeyEvent', {
        type: 'keyDown',
        text: character,
        unmodifiedText: character,
        ...described,
      }),
      session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...described }),
    ];
  });
  await Promise.all(sent);
}
