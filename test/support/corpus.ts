/** Inputs, in base64, on which a parser of foreign bytes once failed; by the name that the test gives. */
export const CORPUS: Readonly<Record<string, readonly string[]>> = {};
