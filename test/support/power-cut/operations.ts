/** What a thread did to the disk, in order. Files are named by number, since they may be renamed. */
export type Operation = { at: bigint } & (
  | { kind: 'write'; file: number; position: number; bytes: Uint8Array }
  | { kind: 'resize'; file: number; size: number }
  /** `since`: the number of operations when the sync began; all before it of this file are on the disk */
  | { kind: 'sync'; file: number; since: number }
  | { kind: 'create'; file: number; path: string }
  | { kind: 'rename'; from: string; to: string }
  | { kind: 'unlink' | 'mkdir' | 'rmdir'; path: string }
);

/** Names the file that the operations go to, relative to the data folder. */
export const TRACE = '../trace';
