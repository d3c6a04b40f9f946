import type { ElementHandle, Frame, Page } from 'playwright-core';
import { openPageSession } from '../browser/devtools-session.ts';

const LETTER_OR_DIGIT = /^[a-z0-9]$/i;

/** The key event of a character. Some scripts still read the legacy key codes. */
function describeKey(character: string) {
  if (!LETTER_OR_DIGIT.test(character)) return { key: character };
  const code = /\d/.test(character) ? `Digit${character}` : `Key${character.toUpperCase()}`;
  return { key: character, code, windowsVirtualKeyCode: character.toUpperCase().charCodeAt(0) };
}

/**
 * Types into the focused element with real key events. All of them are sent before the page can navigate: keys that
 * were sent one by one could reach another document.
 */
export async function typeKeys(
  { page, frame }: { page: Page; frame: Frame },
  element: ElementHandle,
  text: string,
): Promise<void> {
  if (frame !== page.mainFrame()) {
    // A frame may run in its own process; there each key checks its element.
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
