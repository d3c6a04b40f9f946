declare module 'html-encoding-sniffer' {
  /** The encoding of an HTML page by the HTML standard: byte order mark, transport, what the page says, default. */
  const sniffEncoding: (
    bytes: Uint8Array,
    options?: { transportLayerEncodingLabel?: string; defaultEncoding?: string; xml?: boolean },
  ) => string;
  export = sniffEncoding;
}
