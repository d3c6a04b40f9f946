// Tests: test/video/catalog.test.ts
import { html } from '../../platform/http/docs/html.ts';
import type { Html } from '../../platform/http/docs/html.ts';
import type { StoredGeneration } from '../store/generations.ts';

const TITLE_LENGTH = 80;

/** The public page of one video: a player, and tags by which other sites show a preview. */
export function renderSharePage(base: string, slug: string, generation: StoredGeneration): string {
  const { prompt, plan, modelName } = generation;
  const title = prompt.length > TITLE_LENGTH ? `${prompt.slice(0, TITLE_LENGTH - 1)}…` : prompt;
  const page = `${base}/s/${slug}`;
  const video = `${page}/video`;
  const picture = `${page}/thumbnail`;
  const type = `video/${plan.format}`;
  const head = html`
    <meta property="og:title" content="${title}" />
    <meta property="og:type" content="video.other" />
    <meta property="og:url" content="${page}" />
    <meta property="og:image" content="${picture}" />
    <meta property="og:video" content="${video}" />
    <meta property="og:video:type" content="${type}" />
    <meta property="og:video:width" content="${plan.width}" />
    <meta property="og:video:height" content="${plan.height}" />
    <meta name="twitter:card" content="player" />
    <meta name="twitter:title" content="${title}" />
    <meta name="twitter:image" content="${picture}" />
    <meta name="twitter:player" content="${page}" />
    <meta name="twitter:player:width" content="${plan.width}" />
    <meta name="twitter:player:height" content="${plan.height}" />
    <style>
      body {
        justify-items: center;
        gap: 1rem;
        padding: 1rem;
        box-sizing: border-box;
        background: light-dark(#f6f5f2, #131417);
        color: light-dark(#1d1d1f, #ececec);
      }
      video {
        width: auto;
        height: auto;
        max-width: min(92vw, 1280px);
        max-height: 78vh;
        border-radius: 10px;
        background: #000;
        box-shadow: 0 10px 40px #0005;
      }
      p {
        max-width: 60ch;
        margin: 0;
        text-align: center;
        overflow-wrap: anywhere;
      }
      small {
        opacity: 0.65;
      }
    </style>
  `;
  const body = html`
    <video controls playsinline preload="metadata" poster="${picture}" width="${plan.width}" height="${plan.height}">
      <source src="${video}" type="${type}" />
    </video>
    <p>${prompt}</p>
    <small>Made with ${modelName}</small>
  `;
  return renderPage(title, head, body);
}

/** The page for a missing or deleted video. It does not say which of the two it is. */
export function renderNoPage(): string {
  const head = html`
    <style>
      body {
        text-align: center;
      }
    </style>
  `;
  const body = html`
    <h1>No video here</h1>
    <p>The address is wrong, or the video is no longer shared.</p>
  `;
  return renderPage('No video here', head, body);
}

/**
 * The frame of every public page: one centered block, light or dark as the reader prefers, hidden from search engines.
 */
function renderPage(title: string, head: Html, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <style>
          :root {
            color-scheme: light dark;
          }
          body {
            margin: 0;
            min-height: 100vh;
            display: grid;
            place-content: center;
            font:
              16px/1.5 system-ui,
              sans-serif;
          }
        </style>
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html> `.html;
}
