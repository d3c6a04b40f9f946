declare module 'jsdom' {
  /** The parts that the bench uses. */
  export class JSDOM {
    constructor(html: string, options: { url: string });
    readonly window: { document: never; close(): void };
  }
}
