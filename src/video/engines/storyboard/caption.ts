import sharp from 'sharp';
import { makeSprite } from './sprites.ts';
import type { Sprite, SpriteFolder } from './sprites.ts';

const MAX_LETTERS = 160;

export type Caption = {
  prompt: string;
  /** the small line below */
  note: string;
  accent: string;
  frame: { width: number; height: number };
};

/**
 * Draws the prompt as a card. Pango renders it, in every script for which the machine has a font. ffmpeg receives only
 * pixels: a caller's text is never in a filter graph, nor in a file that ffmpeg reads as text.
 */
export async function makeCaption(to: SpriteFolder, name: string, caption: Caption): Promise<Sprite> {
  const { width, height } = caption.frame;
  const letter = Math.max(12, Math.round(Math.min(width, height) * 0.042));
  const room = Math.round(Math.min(width * 0.8, letter * 26));
  const [text, note] = await Promise.all([
    setText(shorten(caption.prompt), { letter, room, color: '#ffffff', weight: 'bold' }),
    setText(caption.note, { letter: Math.round(letter * 0.55), room, color: caption.accent, weight: 'normal' }),
  ]);
  const pad = Math.round(letter * 0.8);
  const bar = Math.max(3, Math.round(letter / 5));
  const inside = Math.max(text.width, note.width);
  const size = {
    width: inside + pad * 2 + bar,
    height: text.height + note.height + Math.round(pad * 2.4),
  };
  const panel = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}"><rect width="${size.width}" height="${size.height}" rx="${pad / 2}" fill="#0a0c14" fill-opacity="0.62"/><rect x="${pad / 2}" y="${pad}" width="${bar}" height="${size.height - pad * 2}" rx="${bar / 2}" fill="${caption.accent}"/></svg>`,
  );
  const left = pad + bar;
  const card = sharp(panel).composite([
    { input: text.data, left, top: pad },
    { input: note.data, left, top: pad + text.height + Math.round(pad * 0.4) },
  ]);
  return await makeSprite(to, name, sharp(await card.png({ compressionLevel: 1 }).toBuffer()));
}

type Style = { letter: number; room: number; color: string; weight: string };

async function setText(text: string, style: Style): Promise<{ data: Buffer; width: number; height: number }> {
  const markup = `<span foreground="${style.color}" weight="${style.weight}">${escapeMarkup(text)}</span>`;
  const font = `DejaVu Sans, Noto Sans, sans-serif ${style.letter}`;
  const image = sharp({
    text: { text: markup, font, width: style.room, dpi: 72, rgba: true, wrap: 'word-char', spacing: 2 },
  });
  const { data, info } = await image.png({ compressionLevel: 1 }).toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Reduces text to one printable line, because Pango rejects control characters. */
function shorten(prompt: string): string {
  const line = prompt.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  const letters = Array.from(line === '' ? '…' : line);
  return letters.length <= MAX_LETTERS ? letters.join('') : `${letters.slice(0, MAX_LETTERS - 1).join('')}…`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
