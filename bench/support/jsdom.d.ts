declare module 'jsdom' {
  /** What the measurement needs of it. */
  export class JSDOM {
    constructor(html: string, options: { url: string });
    readonly window: { document: never; close(): void };
  }
}
