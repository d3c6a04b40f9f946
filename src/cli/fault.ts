/** What goes wrong for a reason that the person at the terminal can mend: one line on stderr, no stack. */
export class CliFault extends Error {
  override readonly name = 'CliFault';
  /** 1, or 2 when the command was not used as it is meant */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An answer of the server that is no success. */
export class ServerFault extends CliFault {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
