import { setFlagsFromString } from 'node:v8';

/**
 * Sets how V8 compiles and how its heap grows, before anything else is loaded: compiled code in the cache is valid for the
 * same flags only.
 */
export function setStartFlags(): void {
  // The embedded database is WebAssembly. Optimizing its largest function takes V8 a second of a core and 600 MiB at each
  // start. The baseline compiler is enough.
  setFlagsFromString('--no-wasm-dynamic-tiering');
  setFlagsFromString('--no-wasm-tier-up');
  // What is loaded at start stays: a larger nursery would take 50 MiB and free nothing.
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets the nursery grow under load, as it does by default. */
export function setServingFlags(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
